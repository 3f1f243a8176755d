/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resolve.h -- a host name into a numeric address, in bounded time.
 */
#ifndef COMMON_RDMA_RESOLVE_H
#define COMMON_RDMA_RESOLVE_H

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

#endif /* COMMON_RDMA_RESOLVE_H */
