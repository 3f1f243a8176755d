/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resolve.h -- a host name into a numeric address, in bounded time.
 */
#ifndef COMMON_RDMA_RESOLVE_H
#define COMMON_RDMA_RESOLVE_H

#include <stdbool.h>

#define RESOLVE_ADDRESS_MAX 64
#define RESOLVE_TIMEOUT_MS  10000 /* the tools' */

/* "host:7204" or "[::1]:7204", which is not a name: ports have an option of their own. */
bool resolve_has_port(const char *host);
/* The first address of the host, IPv4 or IPv6, as librpma takes it. */
int resolve_host(const char *host, int timeout_ms, char address[RESOLVE_ADDRESS_MAX]);
/* The first of a family: AF_INET, AF_INET6, or AF_UNSPEC for either. */
int resolve_family(const char *host, int family, int timeout_ms, char address[RESOLVE_ADDRESS_MAX]);

#endif /* COMMON_RDMA_RESOLVE_H */
