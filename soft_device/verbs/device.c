/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device.c -- which devices there are: soft0…, one for each address of this host.
 *
 * The addresses are read once. Real ones come first, so that a program that takes the first
 * device can be reached by other hosts; link-local ones are left out, as they are ambiguous
 * without their interface.
 */
#include "device.h"

#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "soft_device/faults/call.h"
#include "soft_device/transport/address.h"

#undef ibv_get_device_list

static pthread_once_t found = PTHREAD_ONCE_INIT;
static struct device devices[SOFT_DEVICES_MAX];
static unsigned devices_count;

/* In the order in which devices are numbered; RANK_NONE has no device. */
enum rank { RANK_IPV4, RANK_IPV6, RANK_LOOPBACK4, RANK_LOOPBACK6, RANK_NONE };

static enum rank rank_of(const struct ifaddrs *address)
{
	union ibv_gid gid;
	struct in6_addr in6;

	if (address->ifa_addr == NULL || (address->ifa_flags & IFF_UP) == 0)
		return RANK_NONE;
	gid_from_sockaddr(&gid, address->ifa_addr);
	memcpy(&in6, gid.raw, sizeof(in6));
	switch (address->ifa_addr->sa_family) {
	case AF_INET:
		return gid.raw[12] == 127 ? RANK_LOOPBACK4 : RANK_IPV4;
	case AF_INET6:
		if (IN6_IS_ADDR_LOOPBACK(&in6))
			return RANK_LOOPBACK6;
		return IN6_IS_ADDR_LINKLOCAL(&in6) ? RANK_NONE : RANK_IPV6;
	default:
		return RANK_NONE;
	}
}

/* An EUI-64: the vendor id, and 40 bits of the FNV-1a hash of the address. */
static uint64_t guid_of(const union ibv_gid *gid)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < sizeof(gid->raw); i++)
		hash = (hash ^ gid->raw[i]) * UINT64_C(0x100000001b3);
	return htobe64((uint64_t)SOFT_VENDOR_ID << 40 | (hash >> 24));
}

static void add(const struct ifaddrs *address)
{
	struct device *device = &devices[devices_count];

	gid_from_sockaddr(&device->gid, address->ifa_addr);
	for (unsigned i = 0; i < devices_count; i++) {
		if (memcmp(&devices[i].gid, &device->gid, sizeof(device->gid)) == 0)
			return;
	}
	device->index = devices_count;
	device->ifindex = if_nametoindex(address->ifa_name);
	device->guid = guid_of(&device->gid);
	device->ibv.node_type = IBV_NODE_CA;
	device->ibv.transport_type = IBV_TRANSPORT_IB;
	snprintf(device->ibv.name, IBV_SYSFS_NAME_MAX, "soft%u", device->index);
	snprintf(device->ibv.dev_name, IBV_SYSFS_NAME_MAX, "soft_uverbs%u", device->index);
	snprintf(device->ibv.dev_path, IBV_SYSFS_PATH_MAX,
		 "/sys/class/infiniband_verbs/soft_uverbs%u", device->index);
	snprintf(device->ibv.ibdev_path, IBV_SYSFS_PATH_MAX, "/sys/class/infiniband/soft%u",
		 device->index);
	devices_count++;
}

static void find_all(void)
{
	struct ifaddrs *addresses;

	if (getifaddrs(&addresses) != 0) {
		process_warn("cannot read the addresses of this host: %s", strerror(errno));
		return;
	}
	for (enum rank rank = RANK_IPV4; rank < RANK_NONE; rank++) {
		for (struct ifaddrs *at = addresses; at != NULL; at = at->ifa_next) {
			if (rank_of(at) == rank && devices_count < SOFT_DEVICES_MAX)
				add(at);
		}
	}
	freeifaddrs(addresses);
}

unsigned device_count(void)
{
	pthread_once(&found, find_all);
	return devices_count;
}

struct device *device_at(unsigned index)
{
	return index < device_count() ? &devices[index] : NULL;
}

struct device *device_with_gid(const union ibv_gid *gid)
{
	for (unsigned i = 0; i < device_count(); i++) {
		if (memcmp(&devices[i].gid, gid, sizeof(*gid)) == 0)
			return &devices[i];
	}
	return NULL;
}

SOFT_EXPORT struct ibv_device **ibv_get_device_list(int *num_devices)
{
	const unsigned count = device_count();
	struct ibv_device **list;
	int fault = FAULT_CALL();

	if (num_devices != NULL)
		*num_devices = 0;
	list = fault == 0 ? calloc(count + 1, sizeof(struct ibv_device *)) : NULL;
	if (list == NULL) {
		errno = fault != 0 ? fault : ENOMEM;
		return NULL;
	}
	for (unsigned i = 0; i < count; i++)
		list[i] = &devices[i].ibv;
	if (num_devices != NULL)
		*num_devices = (int)count;
	return list;
}

SOFT_EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SOFT_EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

SOFT_EXPORT int ibv_get_device_index(struct ibv_device *device)
{
	return (int)((struct device *)device)->index;
}

SOFT_EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return ((struct device *)device)->guid;
}
