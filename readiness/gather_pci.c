/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_pci.c -- the PCI functions between the root ports and the NICs of a
 * device.
 *
 * The real path of a NIC's directory names them: after the host bridge
 * ("pci0000:16") each component is a function, the first the root port. A
 * device of bonded interfaces has a NIC for each of these; one of a virtual
 * function is looked at where its physical function is, too.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

#define CLASS	    "sys/class/infiniband/"
#define NET	    "sys/class/net/"
#define NDEVS	    CLASS "%s/ports/%d/gid_attrs/ndevs"
#define NETDEVS_MAX 32
#define ENTRIES_MAX 4096 /* limit per directory */

/* Do the characters have the shape "xxxx:xx:xx.x", where x is a digit? */
static bool has_shape(const char *text, size_t len, const char *shape)
{
	size_t i;

	for (i = 0; i < len && shape[i] != '\0'; i++) {
		if (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i])
			return false;
	}
	return i == len && shape[i] == '\0';
}

static bool is_function(const char *text, size_t len)
{
	/* domains that the kernel makes up are longer than 16 bits */
	return has_shape(text, len, "xxxx:xx:xx.x") || has_shape(text, len, "xxxxx:xx:xx.x") ||
	       has_shape(text, len, "xxxxxxxx:xx:xx.x");
}

static bool is_host_bridge(const char *text, size_t len)
{
	return has_shape(text, len, "pcixxxx:xx") || has_shape(text, len, "pcixxxxx:xx") ||
	       has_shape(text, len, "pcixxxxxxxx:xx");
}

/* The paths of the functions, from the root port to the NIC. */
static size_t find_functions(const char *real, size_t *ends, size_t room)
{
	size_t n = 0;

	for (size_t at = 0; real[at] != '\0';) {
		size_t len = strcspn(real + at, "/");

		/* a host bridge may be behind another */
		if (is_host_bridge(real + at, len))
			n = 0;
		else if (is_function(real + at, len) && n++ < room)
			ends[n - 1] = at + len;
		at += len + strspn(real + at + len, "/");
	}
	return n;
}

bool gather_function_path(const struct sysroot *root, const char *link, char path[FACTS_PATH_MAX])
{
	char real[PATH_MAX];
	size_t ends[FACTS_CHAIN_MAX + 1];
	size_t n = sysroot_real_path(root, real, "%s", link)
			   ? find_functions(real, ends, FACTS_CHAIN_MAX + 1)
			   : 0;

	if (n == 0 || n > FACTS_CHAIN_MAX + 1 || ends[n - 1] >= FACTS_PATH_MAX)
		return false;
	real[ends[n - 1]] = '\0';
	snprintf(path, FACTS_PATH_MAX, "%.*s", FACTS_PATH_MAX - 1, real);
	return true;
}

static int id_of(const struct sysroot *root, const struct facts_function *function,
		 const char *name, size_t at)
{
	int64_t value;
	uint16_t word;

	if (sysroot_number(root, &value, "%s/%s", function->path, name) && value >= 0 &&
	    value <= UINT16_MAX)
		return (int)value;
	if (pci_config_word(&function->config, at, &word) && word != UINT16_MAX)
		return word;
	return -1;
}

static void gather_link(const struct sysroot *root, struct facts_function *function)
{
	int64_t width;

	function->current_width = function->max_width = -1;
	sysroot_text(root, function->current_speed, "%s/current_link_speed", function->path);
	sysroot_text(root, function->max_speed, "%s/max_link_speed", function->path);
	if (sysroot_number(root, &width, "%s/current_link_width", function->path) && width > 0 &&
	    width <= 32)
		function->current_width = (int)width;
	if (sysroot_number(root, &width, "%s/max_link_width", function->path) && width > 0 &&
	    width <= 32)
		function->max_width = (int)width;
}

static void add_function(const struct sysroot *root, struct facts_chain *chain, const char *path,
			 size_t len)
{
	struct facts_function *function = &chain->functions[chain->count];
	const char *address;

	if (chain->count == FACTS_CHAIN_MAX || len >= sizeof(function->path)) {
		chain->cut = true;
		return;
	}
	snprintf(function->path, sizeof(function->path), "%.*s", (int)len, path);
	address = strrchr(function->path, '/');
	snprintf(function->address, sizeof(function->address), "%.15s",
		 address != NULL ? address + 1 : function->path);
	pci_config_read(root, function->path, &function->config);
	function->vendor = id_of(root, function, "vendor", 0);
	function->device = id_of(root, function, "device", 2);
	gather_link(root, function);
	chain->count++;
}

static void read_chain(const struct sysroot *root, const char *real, struct facts_chain *chain)
{
	size_t ends[FACTS_CHAIN_MAX];
	size_t n = find_functions(real, ends, FACTS_CHAIN_MAX);

	memset(chain, 0, sizeof(*chain));
	chain->cut = n > FACTS_CHAIN_MAX;
	for (size_t i = 0; i < n && i < FACTS_CHAIN_MAX; i++)
		add_function(root, chain, real, ends[i]);
	chain->nics = chain->count > 0 ? 1 : 0;
}

bool gather_chain(const struct sysroot *root, const char *link, struct facts_chain *chain)
{
	char path[FACTS_PATH_MAX];

	if (!gather_function_path(root, link, path))
		return false;
	read_chain(root, path, chain);
	return chain->count > 0;
}

static bool is_known(const struct facts_pci *pci, const char *path)
{
	for (size_t i = 0; i < pci->count; i++) {
		const struct facts_chain *chain = &pci->chains[i];

		if (strcmp(chain->functions[chain->count - 1].path, path) == 0)
			return true;
	}
	return false;
}

/* A virtual function's way is that of its physical one, and then itself. */
static void gather_virtual(const struct sysroot *root, const char *nic, struct facts_chain *chain)
{
	char physfn[FACTS_PATH_MAX + 16], real[FACTS_PATH_MAX], name[32];
	size_t count;

	snprintf(physfn, sizeof(physfn), "%s/physfn", nic);
	if (!gather_function_path(root, physfn, real)) {
		read_chain(root, nic, chain);
		/* it has one that cannot be seen */
		chain->cut =
			chain->cut || sysroot_link_name(root, name, sizeof(name), "%s", physfn);
		return;
	}
	read_chain(root, real, chain);
	count = chain->count;
	add_function(root, chain, nic, strlen(nic));
	chain->nics += chain->count - count;
}

/* A NIC by any link to its directory; false: it leads to none. */
static bool add_nic(const struct sysroot *root, const char *link, struct facts_pci *pci)
{
	char nic[FACTS_PATH_MAX];

	if (!gather_function_path(root, link, nic))
		return false;
	if (is_known(pci, nic))
		return true;
	if (pci->count == FACTS_CHAINS_MAX) {
		pci->cut = true;
		return true;
	}
	gather_virtual(root, nic, &pci->chains[pci->count]);
	if (pci->chains[pci->count].count > 0)
		pci->count++;
	return true;
}

struct netdevs {
	char names[NETDEVS_MAX][32];
	size_t count;
	bool cut;
};

static void add_name(struct netdevs *netdevs, const char *name)
{
	if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, "..") == 0 ||
	    strcmp(name, ".") == 0 || strlen(name) >= sizeof(netdevs->names[0]))
		return;
	for (size_t i = 0; i < netdevs->count; i++) {
		if (strcmp(netdevs->names[i], name) == 0)
			return;
	}
	if (netdevs->count == NETDEVS_MAX) {
		netdevs->cut = true;
		return;
	}
	snprintf(netdevs->names[netdevs->count++], sizeof(netdevs->names[0]), "%s", name);
}

/* The interfaces that the GIDs of a port belong to. */
static void find_netdevs(const struct sysroot *root, const char *device, int port,
			 struct netdevs *netdevs)
{
	struct sysroot_walk files = sysroot_walk(root, ENTRIES_MAX, NDEVS, device, port);
	const char *file;
	char name[64];

	while ((file = sysroot_next(&files)) != NULL) {
		if (sysroot_text(root, name, NDEVS "/%s", device, port, file))
			add_name(netdevs, name);
	}
	netdevs->cut = netdevs->cut || files.cut;
}

/* Counts the devices below a bond, team or VLAN. */
static size_t find_lower(const struct sysroot *root, const char *name, struct netdevs *netdevs)
{
	struct sysroot_walk files = sysroot_walk(root, ENTRIES_MAX, NET "%s", name);
	char slaves[1024], *save = NULL;
	const char *file;
	size_t n = 0;

	while ((file = sysroot_next(&files)) != NULL) {
		if (strncmp(file, "lower_", 6) == 0) {
			add_name(netdevs, file + 6);
			n++;
		}
	}
	if (sysroot_text(root, slaves, NET "%s/bonding/slaves", name)) {
		for (char *slave = strtok_r(slaves, " ", &save); slave != NULL;
		     slave = strtok_r(NULL, " ", &save), n++)
			add_name(netdevs, slave);
	}
	return n;
}

/*
 * The list grows while it is gone through: names are in it once, so it ends.
 * One that leads nowhere, as a bond in another network namespace, may be of
 * any NIC. Other NICs in a bridge are no part of the device. How many led to a NIC.
 */
static size_t add_netdevs(const struct sysroot *root, struct netdevs *netdevs,
			  struct facts_pci *pci)
{
	char link[FACTS_PATH_MAX];
	size_t reached = 0;

	for (size_t i = 0; i < netdevs->count; i++) {
		const char *name = netdevs->names[i];

		snprintf(link, sizeof(link), NET "%s/device", name);
		if (sysroot_exists(root, NET "%s/bridge", name))
			continue;
		if (sysroot_exists(root, "%s", link) && add_nic(root, link, pci))
			reached++;
		else if (find_lower(root, name, netdevs) == 0)
			pci->cut = true;
	}
	pci->cut = pci->cut || netdevs->cut;
	return reached;
}

/* RoCE runs over interfaces, which may be bonded; InfiniBand and iWARP devices are one NIC. */
static bool runs_over_interfaces(const struct facts_device *device)
{
	for (size_t i = 0; i < device->ports_count; i++) {
		const char *layer = device->ports[i].link_layer;

		/* EFA has "Unknown" */
		if (layer[0] == '\0' || strcmp(layer, "Ethernet") == 0)
			return strcmp(device->transport, "iwarp") != 0;
	}
	return device->ports_count == 0;
}

void gather_pci(const struct gather *g, const struct facts_device *device, struct facts_pci *facts)
{
	struct netdevs netdevs = {.count = 0};
	char link[FACTS_PATH_MAX];

	memset(facts, 0, sizeof(*facts));
	if (!device->found || device->kind != DEVICE_HARDWARE)
		return;
	facts->chains = calloc(FACTS_CHAINS_MAX, sizeof(*facts->chains));
	if (facts->chains == NULL)
		return;
	snprintf(link, sizeof(link), CLASS "%s/device", device->name);
	add_nic(g->root, link, facts);
	for (size_t i = 0; i < device->ports_count; i++)
		find_netdevs(g->root, device->name, device->ports[i].number, &netdevs);
	if (add_netdevs(g->root, &netdevs, facts) == 0 && runs_over_interfaces(device))
		facts->cut = true;
}
