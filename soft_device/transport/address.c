/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.c -- GIDs and socket addresses: a GID is an address, IPv4 as ::ffff:a.b.c.d.
 */
#include "address.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

void gid_from_sockaddr(union ibv_gid *gid, const struct sockaddr *addr)
{
	memset(gid, 0, sizeof(*gid));
	if (addr->sa_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, addr, sizeof(in));
		gid->raw[10] = 0xff;
		gid->raw[11] = 0xff;
		memcpy(&gid->raw[12], &in.sin_addr, 4);
	} else if (addr->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, addr, sizeof(in6));
		memcpy(gid->raw, &in6.sin6_addr, sizeof(gid->raw));
	}
}

static bool gid_is_mapped(const union ibv_gid *gid)
{
	struct in6_addr addr;

	memcpy(&addr, gid->raw, sizeof(addr));
	return IN6_IS_ADDR_V4MAPPED(&addr);
}

socklen_t gid_to_sockaddr(const union ibv_gid *gid, uint16_t port, uint32_t scope_id,
			  struct sockaddr_storage *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	memset(addr, 0, sizeof(*addr));
	if (gid_is_mapped(gid)) {
		memcpy(&in.sin_addr, &gid->raw[12], 4);
		memcpy(addr, &in, sizeof(in));
		return sizeof(in);
	}
	in6.sin6_scope_id = scope_id;
	memcpy(&in6.sin6_addr, gid->raw, sizeof(gid->raw));
	memcpy(addr, &in6, sizeof(in6));
	return sizeof(in6);
}
