/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_device.c -- the RDMA device that is looked at, and its ports.
 *
 * device.c finds the devices: from sysfs, or, in a process on the
 * software device, from the verbs; then there are no ports in sysfs.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

#define CLASS	 "sys/class/infiniband/"
#define GIDS_MAX 4096 /* rxe has 1,024, other devices some hundred */

static bool is_active(const struct sysroot *root, const struct device *device)
{
	char state[32];

	for (int port = 1; port <= FACTS_PORTS_MAX; port++) {
		if (sysroot_text(root, state, CLASS "%s/ports/%d/state", device->name, port) &&
		    strcmp(state, "4: ACTIVE") == 0)
			return true;
	}
	return false;
}

static int merit_of(const struct sysroot *root, const struct device *device)
{
	struct adapter_ids ids;
	int merit = is_active(root, device) ? 1 : 0;

	if (device->kind != DEVICE_HARDWARE)
		return merit;
	adapter_read(root, device->name, &ids);
	return merit + (adapter_find(device->kind, &ids)->placement <= ADAPTER_NOT_KNOWN ? 4 : 2);
}

/* A device that places data itself, or may, comes first, then hardware, then any that works. */
static const struct device *choose(const struct sysroot *root, const struct device *list,
				   size_t count, const char *asked)
{
	const struct device *best = NULL;
	int best_merit = -1;

	for (size_t i = 0; i < count; i++) {
		int merit = merit_of(root, &list[i]);

		if (asked != NULL ? device_is(&list[i], asked) && best == NULL
				  : merit > best_merit) {
			best = &list[i];
			best_merit = merit;
		}
	}
	return best;
}

/* Is it a RoCE v2 GID that can be routed? */
static bool gid_is_routable(const struct sysroot *root, const char *port, long index)
{
	static const unsigned char none[16];
	char type[32], text[64];
	struct in6_addr gid;

	if (!sysroot_text(root, type, "%s/gid_attrs/types/%ld", port, index) ||
	    strcmp(type, "RoCE v2") != 0 || !sysroot_text(root, text, "%s/gids/%ld", port, index) ||
	    inet_pton(AF_INET6, text, &gid) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&gid))
		return !(gid.s6_addr[12] == 169 && gid.s6_addr[13] == 254);
	return !IN6_IS_ADDR_LINKLOCAL(&gid) && memcmp(&gid, none, sizeof(none)) != 0;
}

/* Outside of sysfs the entries come in any order: all of them are looked at, or it is not known. */
static enum known find_gid(const struct sysroot *root, const char *port)
{
	struct sysroot_walk gids = sysroot_walk(root, GIDS_MAX, "%s/gids", port);
	enum known found = gids.directory != NULL ? KNOWN_NO : KNOWN_NOT;
	const char *name;

	while (found != KNOWN_YES && (name = sysroot_next(&gids)) != NULL) {
		char *end;
		long index = strtol(name, &end, 10);

		if (end != name && *end == '\0' && gid_is_routable(root, port, index))
			found = KNOWN_YES;
	}
	sysroot_walk_end(&gids);
	return gids.cut ? KNOWN_NOT : found;
}

static void gather_port(const struct sysroot *root, const struct device *device, int number,
			struct facts_port *port)
{
	char path[FACTS_PATH_MAX];

	snprintf(path, sizeof(path), CLASS "%s/ports/%d", device->name, number);
	memset(port, 0, sizeof(*port));
	port->number = number;
	sysroot_text(root, port->state, "%s/state", path);
	sysroot_text(root, port->phys_state, "%s/phys_state", path);
	sysroot_text(root, port->rate, "%s/rate", path);
	sysroot_text(root, port->link_layer, "%s/link_layer", path);
	port->roce_v2 = find_gid(root, path);
}

static void gather_ports(const struct sysroot *root, const struct device *device,
			 struct facts_device *facts)
{
	for (int port = 1; port <= FACTS_PORTS_MAX; port++) {
		if (sysroot_exists(root, CLASS "%s/ports/%d", device->name, port))
			gather_port(root, device, port, &facts->ports[facts->ports_count++]);
	}
}

static void gather_iommu(const struct sysroot *root, const char *function,
			 struct facts_device *facts)
{
	char group[32];

	if (!sysroot_link_name(root, group, sizeof(group), "%s/iommu_group", function) &&
	    !sysroot_exists(root, "%s/iommu_group", function))
		snprintf(facts->iommu_type, sizeof(facts->iommu_type), "none");
	else if (!sysroot_text(root, facts->iommu_type, "%s/iommu_group/type", function))
		facts->iommu_type[0] = '\0';
}

static int number_of(const struct sysroot *root, const char *function, const char *name)
{
	int64_t value;

	if (!sysroot_number(root, &value, "%s/%s", function, name) || value < 0 ||
	    value > INT32_MAX)
		return -1;
	return (int)value;
}

/* A device that is not on a PCI bus may have a node and a group all the same. */
static void gather_hardware(const struct sysroot *root, struct facts_device *facts)
{
	char link[FACTS_PATH_MAX], function[FACTS_PATH_MAX];

	snprintf(link, sizeof(link), CLASS "%s/device", facts->name);
	if (!gather_function_path(root, link, function))
		snprintf(function, sizeof(function), "%s", link);
	adapter_read(root, facts->name, &facts->ids);
	facts->numa_node = number_of(root, function, "numa_node");
	sysroot_text(root, facts->local_cpus, "%s/local_cpulist", function);
	gather_iommu(root, function, facts);
}

static void gather_found(const struct sysroot *root, const struct device *device,
			 struct facts_device *facts)
{
	facts->found = true;
	facts->kind = device->kind;
	snprintf(facts->name, sizeof(facts->name), "%s", device->name);
	snprintf(facts->transport, sizeof(facts->transport), "%s",
		 device->transport != NULL ? device->transport : "");
	snprintf(facts->firmware, sizeof(facts->firmware), "%s", device->firmware);
	if (device->kind == DEVICE_SOFT)
		return;
	sysroot_text(root, facts->firmware, CLASS "%s/fw_ver", device->name);
	sysroot_text(root, facts->board, CLASS "%s/board_id", device->name);
	sysroot_text(root, facts->hca_type, CLASS "%s/hca_type", device->name);
	gather_ports(root, device, facts);
	if (device->kind == DEVICE_HARDWARE)
		gather_hardware(root, facts);
}

void gather_device(const struct gather *g, const char *device, struct facts_device *facts)
{
	struct device *list = NULL, named;
	const struct device *found;

	memset(facts, 0, sizeof(*facts));
	facts->ids = (struct adapter_ids){.vendor = -1, .model = -1, .node_type = -1};
	facts->numa_node = -1;
	if (device != NULL && strcmp(device, "auto") == 0)
		device = NULL;
	if (device != NULL)
		snprintf(facts->asked, sizeof(facts->asked), "%s", device);
	if (device_list(g->root, &list, &facts->count) != 0)
		return;
	facts->no_sysfs = facts->count == 0 && !sysroot_exists(g->root, "sys/class");
	/* by its name also where the list is longer than device_list() gives */
	if (device != NULL && device_find(g->root, device, &named) == 0)
		found = &named;
	else
		found = choose(g->root, list, facts->count, device);
	if (found != NULL)
		gather_found(g->root, found, facts);
	free(list);
}
