/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c -- finds RDMA devices, their kind and their address.
 *
 * Kind: only rxe has the attribute "parent"; siw is an RNIC without a device
 * behind it, or, before Linux 5.11, with that of its network interface; all
 * else that has a device behind it is hardware.
 */
#include "device.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/failure.h"
#include "soft.h"

#define CLASS	    "sys/class/infiniband"
#define DEVICES_MAX 4096 /* more than any host has with all its virtual functions */

static bool is_hardware(const struct sysroot *root, const char *name)
{
	char real[PATH_MAX];

	if (sysroot_real_path(root, real, CLASS "/%s/device", name))
		return strstr(real, "devices/virtual/") == NULL;
	/* what it points to is not in this tree */
	return sysroot_link_name(root, real, sizeof(real), CLASS "/%s/device", name);
}

static enum device_kind kind_of(const struct sysroot *root, const char *name, bool rnic)
{
	char text[128];

	/* by the names they are given, too: taken for hardware they would be trusted */
	if (sysroot_exists(root, CLASS "/%s/parent", name) || strncmp(name, "rxe", 3) == 0)
		return DEVICE_RXE;
	if (strncmp(name, "siw", 3) == 0)
		return DEVICE_SIW;
	if (rnic && sysroot_text(root, text, CLASS "/%s/node_desc", name) &&
	    strstr(text, "Software iWARP") != NULL)
		return DEVICE_SIW;
	if (is_hardware(root, name))
		return DEVICE_HARDWARE;
	return rnic ? DEVICE_SIW : DEVICE_RXE;
}

static const char *transport_of(const struct sysroot *root, const char *name, bool rnic)
{
	char layer[32];

	if (rnic)
		return "iwarp";
	if (!sysroot_text(root, layer, CLASS "/%s/ports/1/link_layer", name))
		return NULL;
	return strcmp(layer, "Ethernet") == 0 ? "roce" : "ib";
}

bool device_is_down(const struct sysroot *root, const char *name)
{
	char state[32];
	int port = 0;

	/* "4: ACTIVE", the number by IBTA's PortState */
	while (sysroot_text(root, state, CLASS "/%s/ports/%d/state", name, port + 1)) {
		if (state[0] == '4')
			return false;
		port++;
	}
	return port > 0;
}

static bool usable(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return true;
	if (address->sa_family != AF_INET6)
		return false;
	return !IN6_IS_ADDR_LINKLOCAL(
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* An IPv4 address wins over IPv6; link-local ones need a scope and are left out. */
static void find_address(const char *netdev, char address[DEVICE_ADDRESS_MAX])
{
	struct ifaddrs *all = NULL;

	address[0] = '\0';
	if (getifaddrs(&all) != 0)
		return;
	for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
		socklen_t len;

		if (i->ifa_addr == NULL || strcmp(i->ifa_name, netdev) != 0 || !usable(i->ifa_addr))
			continue;
		if (i->ifa_addr->sa_family == AF_INET6 && address[0] != '\0')
			continue;
		len = i->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
							: sizeof(struct sockaddr_in6);
		getnameinfo(i->ifa_addr, len, address, DEVICE_ADDRESS_MAX, NULL, 0, NI_NUMERICHOST);
		if (i->ifa_addr->sa_family == AF_INET)
			break;
	}
	freeifaddrs(all);
}

int device_find(const struct sysroot *root, const char *name, struct device *device)
{
	char node_type[64] = "";
	bool rnic;

	if (root->machine && soft_active())
		return soft_find(name, device);
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL ||
	    !sysroot_exists(root, CLASS "/%s", name))
		return -ENOENT;
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", name);
	sysroot_text(root, node_type, CLASS "/%s/node_type", name);
	rnic = strstr(node_type, "RNIC") != NULL;
	device->kind = kind_of(root, name, rnic);
	device->transport = transport_of(root, name, rnic);
	if (!sysroot_text(root, device->netdev, CLASS "/%s/ports/1/gid_attrs/ndevs/0", name) &&
	    device->kind == DEVICE_RXE)
		sysroot_text(root, device->netdev, CLASS "/%s/parent", name);
	find_address(device->netdev, device->address);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct device *)a)->name, ((const struct device *)b)->name);
}

static int list_class(const struct sysroot *root, struct device **devices, size_t *count)
{
	struct sysroot_walk class = sysroot_walk(root, DEVICES_MAX, CLASS);
	struct device *list = NULL;
	const char *name;
	size_t n = 0;

	while ((name = sysroot_next(&class)) != NULL) {
		struct device *longer = realloc(list, (n + 1) * sizeof(*list));

		if (longer == NULL) {
			free(list);
			sysroot_walk_end(&class);
			return -ENOMEM;
		}
		list = longer;
		if (device_find(root, name, &list[n]) == 0)
			n++;
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), by_name);
	*devices = list;
	*count = n;
	return 0;
}

int device_list(const struct sysroot *root, struct device **devices, size_t *count)
{
	if (root->machine && soft_active())
		return soft_list(devices, count);
	return list_class(root, devices, count);
}

bool device_is(const struct device *device, const char *asked)
{
	return asked == NULL || strcmp(device->name, asked) == 0 ||
	       (device->kind == DEVICE_SOFT && strcmp(asked, "soft") == 0);
}

const char *device_kind_name(enum device_kind kind)
{
	static const char *const names[] = {"hardware", "rxe", "siw", "soft"};

	return names[kind];
}

/* In a process on the software device, which then is there and could not start. */
static int soft_lacks_something(void)
{
	struct rlimit space, files;

	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
		return failure_because(
			CAUSE_NO_MEMORY, EXIT_RUN_FAILED, "device",
			"the software device could not start: it reserves more address "
			"space than the %llu MiB that this process may have (ulimit -v)",
			(unsigned long long)space.rlim_cur >> 20);
	if (getrlimit(RLIMIT_NOFILE, &files) == 0)
		return failure_set(
			EXIT_RUN_FAILED, "device",
			"the software device could not start: see its line above; %llu files "
			"may be open at a time (ulimit -n)",
			(unsigned long long)files.rlim_cur);
	return failure_set(EXIT_RUN_FAILED, "device", "the software device could not start");
}

static int none_found(const char *name, size_t count)
{
	if (count == 0 && soft_active())
		return soft_lacks_something();
	if (count == 0)
		return failure_because(
			CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
			"this host has no RDMA device (/sys/class/infiniband is empty): take the "
			"software device (--device soft, or rpma-soft COMMAND), or add the "
			"kernel's as root (rdma link add rxe0 type rxe netdev INTERFACE), or run "
			"the command in a guest that has one (scripts/vm -- COMMAND)");
	if (name != NULL)
		return failure_because(CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
				       "this host has no RDMA device named %s with an address "
				       "(rdma link lists devices)",
				       name);
	return failure_because(CAUSE_NO_DEVICE, EXIT_NO_DEVICE, "device",
			       "no RDMA device of this host has an IP address: give its network "
			       "interface one (ip addr add ADDRESS dev INTERFACE)");
}

/* Looked for by its name alone: more devices than are listed may come before it. */
static int choose_named(const struct sysroot *root, const char *name, struct device *device)
{
	struct device found;

	if (device_find(root, name, &found) != 0 || found.address[0] == '\0')
		return -ENODEV;
	*device = found;
	return 0;
}

int device_choose(const struct sysroot *root, const char *name, struct device *device)
{
	struct device *list = NULL;
	size_t count = 0;
	int ret;

	if (name != NULL && strcmp(name, "auto") == 0)
		name = NULL;
	if (name != NULL && choose_named(root, name, device) == 0)
		return 0;
	ret = device_list(root, &list, &count);
	if (ret)
		return failure_set(EXIT_INTERNAL, "device", "out of memory");
	ret = -ENODEV;
	for (size_t i = 0; name == NULL && i < count && ret != 0; i++) {
		if (list[i].address[0] != '\0') {
			*device = list[i];
			ret = 0;
		}
	}
	free(list);
	return ret == 0 ? 0 : none_found(name, count);
}
