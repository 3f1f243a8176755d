/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_address.h -- the addresses that a wildcard, 0.0.0.0 or ::, stands for.
 */
#ifndef COMMON_RDMA_HOST_ADDRESS_H
#define COMMON_RDMA_HOST_ADDRESS_H

#include <ifaddrs.h>
#include <stdbool.h>
#include <stddef.h>

#include "resolve.h"

#define HOST_ADDRESSES_MAX 32

struct host_addresses {
	size_t count;
	char text[HOST_ADDRESSES_MAX][RESOLVE_ADDRESS_MAX];
};

bool host_address_is_wildcard(const char *address);
/* The kernel takes a bound loopback address for the wildcard, which excludes all others. */
bool host_address_is_loopback(const char *address);

/*
 * 0.0.0.0 is every IPv4 address of an interface that is up, :: every IPv4 and
 * IPv6 address. Not those of IPv6 that are valid on one link only: they mean nothing
 * without the link's name. More than there is room for are left out.
 */
void host_addresses_take(struct host_addresses *addresses, const char *wildcard,
			 const struct ifaddrs *list);

/* The same of this host. -EIO with the error message set. */
int host_addresses(struct host_addresses *addresses, const char *wildcard);

#endif /* COMMON_RDMA_HOST_ADDRESS_H */
