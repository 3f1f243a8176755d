/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * soft_verbs.c -- the devices of the software RDMA device, as verbs show them.
 *
 * Its addresses are its GIDs: one in each table, IPv4 as ::ffff:a.b.c.d.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "soft.h"

static void read_address(const union ibv_gid *gid, char address[DEVICE_ADDRESS_MAX])
{
	struct in6_addr ip;

	memcpy(&ip, gid->raw, sizeof(ip));
	if (IN6_IS_ADDR_V4MAPPED(&ip))
		inet_ntop(AF_INET, &ip.s6_addr[12], address, DEVICE_ADDRESS_MAX);
	else
		inet_ntop(AF_INET6, &ip, address, DEVICE_ADDRESS_MAX);
}

static int read_device(struct ibv_device *ibv, struct device *device)
{
	struct ibv_context *context = ibv_open_device(ibv);
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;

	if (context == NULL)
		return -ENODEV;
	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", ibv_get_device_name(ibv));
	device->kind = DEVICE_SOFT;
	if (ibv_query_device(context, &attr) == 0)
		snprintf(device->firmware, sizeof(device->firmware), "%s", attr.fw_ver);
	if (ibv_query_port(context, 1, &port) == 0)
		device->transport = port.link_layer == IBV_LINK_LAYER_ETHERNET ? "roce" : "ib";
	if (ibv_query_gid(context, 1, 0, &gid) == 0)
		read_address(&gid, device->address);
	ibv_close_device(context);
	return 0;
}

int soft_list(struct device **devices, size_t *count)
{
	int known = 0;
	struct ibv_device **all = ibv_get_device_list(&known);
	struct device *list = calloc((size_t)known + 1, sizeof(*list));
	size_t n = 0;

	for (int i = 0; list != NULL && i < known; i++) {
		if (read_device(all[i], &list[n]) == 0)
			n++;
	}
	if (all != NULL)
		ibv_free_device_list(all);
	if (list == NULL)
		return -ENOMEM;
	*devices = list;
	*count = n;
	return 0;
}

int soft_find(const char *name, struct device *device)
{
	struct device *list = NULL;
	size_t count = 0;
	int ret = soft_list(&list, &count);

	if (ret == 0)
		ret = -ENOENT;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, name) == 0) {
			*device = list[i];
			ret = 0;
		}
	}
	free(list);
	return ret;
}
