/* SPDX-License-Identifier: BSD-3-Clause */
/* address.c -- GIDs and socket addresses: a GID is an address, IPv4 as ::ffff:a.b.c.d. */
#include "address.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

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

int gid_of_socket(int fd, union ibv_gid *own, union ibv_gid *remote)
{
	struct sockaddr_storage addr = {0};
	socklen_t bytes = sizeof(addr);

	if (getsockname(fd, (struct sockaddr *)&addr, &bytes) != 0)
		return -errno;
	gid_from_sockaddr(own, (struct sockaddr *)&addr);
	bytes = sizeof(addr);
	if (getpeername(fd, (struct sockaddr *)&addr, &bytes) != 0)
		return -errno;
	gid_from_sockaddr(remote, (struct sockaddr *)&addr);
	return 0;
}

/* "By which route would this address be reached?" (rtnetlink(7)) */
struct route_query {
	struct nlmsghdr header;
	struct rtmsg route;
	struct rtattr attribute;
	unsigned char address[16];
};

static size_t make_query(const union ibv_gid *gid, struct route_query *query)
{
	const size_t bytes = gid_is_mapped(gid) ? 4 : 16;
	const size_t length = offsetof(struct route_query, address) + bytes;

	*query = (struct route_query){
		.header = {.nlmsg_len = (uint32_t)length,
			   .nlmsg_type = RTM_GETROUTE,
			   .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = bytes == 4 ? AF_INET : AF_INET6,
			  .rtm_dst_len = (unsigned char)(bytes * 8)},
		.attribute = {.rta_len = (unsigned short)RTA_LENGTH(bytes), .rta_type = RTA_DST},
	};
	memcpy(query->address, gid->raw + 16 - bytes, bytes);
	return length;
}

bool gid_is_of_this_host(const union ibv_gid *gid)
{
	const struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct route_query query;
	const size_t length = make_query(gid, &query);
	_Alignas(struct nlmsghdr) unsigned char bytes[4096];
	const struct nlmsghdr *header = (const struct nlmsghdr *)(const void *)bytes;
	ssize_t got = -1;

	if (fd < 0)
		return true;
	if (sendto(fd, &query, length, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) ==
	    (ssize_t)length)
		got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	close(fd);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(struct rtmsg)))
		return true;
	if (header->nlmsg_type == NLMSG_ERROR)
		return false; /* there is no route to it at all */
	return ((const struct rtmsg *)NLMSG_DATA(header))->rtm_type == RTN_LOCAL;
}
