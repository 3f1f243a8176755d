/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.h -- a host name into a numeric address, in bounded time. */
#pragma once

#include <ifaddrs.h>
#include <stdbool.h>
#include <stddef.h>

#define RESOLVE_ADDRESS_MAX   64
#define RESOLVE_ADDRESSES_MAX 8	    /* more addresses of a name are ignored */
#define RESOLVE_TIMEOUT_MS    10000 /* the tools' */

struct resolved {
	char addresses[RESOLVE_ADDRESSES_MAX][RESOLVE_ADDRESS_MAX]; /* numeric, each once */
	size_t count;
};

/* "host:7204" or "[::1]:7204", which is not a name: ports have an option of their own. */
bool resolve_has_port(const char *host);
/* The first address of the host, IPv4 or IPv6, as librpma takes it. */
int resolve_host(const char *host, int timeout_ms, char address[RESOLVE_ADDRESS_MAX]);
/* All of a family, in getaddrinfo's order: AF_INET, AF_INET6, or AF_UNSPEC for either. */
int resolve_all(const char *host, int family, int timeout_ms, struct resolved *resolved);

/* The addresses that a wildcard, 0.0.0.0 or ::, stands for. */
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
