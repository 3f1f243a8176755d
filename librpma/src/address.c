/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.c -- the RDMA CM calls that turn a name into a bound identifier.
 *
 * Used by conn_req.c and connect.c (remote peer), ep.c (local address) and peer.c (both).
 * All errors are RPMA_E_PROVIDER; the cause is in the log.
 */
#include "address.h"
#include "log.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

int rpma_address_new(const char *addr, const char *port, enum rpma_side side,
		     struct rdma_addrinfo **info_ptr)
{
	struct rdma_addrinfo hints = {
		.ai_flags = side == RPMA_PASSIVE ? RAI_PASSIVE : 0,
		.ai_qp_type = IBV_QPT_RC,
		.ai_port_space = RDMA_PS_TCP,
	};

	int ret = rdma_getaddrinfo(addr, port, &hints, info_ptr);
	if (ret == 0)
		return 0;

	/* -1 is a failure of librdmacm itself, anything else one of getaddrinfo(3) */
	const char *cause = ret == -1 ? strerror(errno) : gai_strerror(ret);
	RPMA_LOG_ERROR("rdma_getaddrinfo(node=%s, service=%s, %s): %s", addr, port ? port : "any",
		       side == RPMA_PASSIVE ? "passive" : "active", cause);
	return RPMA_E_PROVIDER;
}

int rpma_address_list(const char *addr, const char *port, struct addrinfo **list_ptr)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

	int ret = getaddrinfo(addr, port, &hints, list_ptr);
	if (ret == 0)
		return 0;

	RPMA_LOG_ERROR("getaddrinfo(node=%s, service=%s): %s", addr, port,
		       ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
	return RPMA_E_PROVIDER;
}

int rpma_address_create_id(struct rdma_event_channel *evch, struct rdma_cm_id **id_ptr)
{
	if (rdma_create_id(evch, id_ptr, NULL, RDMA_PS_TCP) == 0)
		return 0;

	RPMA_LOG_ERRNO(errno, "rdma_create_id()");
	return RPMA_E_PROVIDER;
}

int rpma_address_bind(const struct rdma_addrinfo *info, struct rdma_cm_id *id)
{
	if (rdma_bind_addr(id, info->ai_src_addr) == 0)
		return 0;

	char text[RPMA_ADDRESS_TEXT_MAX];
	RPMA_LOG_ERRNO(errno, "rdma_bind_addr(%s)", rpma_address_print(info->ai_src_addr, text));
	return RPMA_E_PROVIDER;
}

static int resolve(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		   int timeout_ms)
{
	if (rdma_resolve_addr(id, src, dst, timeout_ms) == 0)
		return 0;

	char text[RPMA_ADDRESS_TEXT_MAX];
	RPMA_LOG_ERRNO(errno, "rdma_resolve_addr(%s, timeout_ms=%d)", rpma_address_print(dst, text),
		       timeout_ms);
	return RPMA_E_PROVIDER;
}

const char *rpma_address_print(const struct sockaddr *addr, char text[RPMA_ADDRESS_TEXT_MAX])
{
	bool ipv6 = addr->sa_family == AF_INET6;
	socklen_t len = ipv6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	char host[64], port[6];

	if (getnameinfo(addr, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return "an unknown address";
	snprintf(text, RPMA_ADDRESS_TEXT_MAX, ipv6 ? "[%s]:%s" : "%s:%s", host, port);
	return text;
}

int rpma_address_resolve(const struct rdma_addrinfo *info, struct rdma_cm_id *id, int timeout_ms)
{
	return resolve(id, info->ai_src_addr, info->ai_dst_addr, timeout_ms);
}

int rpma_address_resolve_to(struct sockaddr *dst, struct rdma_cm_id *id, int timeout_ms)
{
	return resolve(id, NULL, dst, timeout_ms);
}

int rpma_address_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	if (rdma_resolve_route(id, timeout_ms) == 0)
		return 0;

	char text[RPMA_ADDRESS_TEXT_MAX];
	RPMA_LOG_ERRNO(errno, "rdma_resolve_route(%s, timeout_ms=%d)",
		       rpma_address_print(rdma_get_peer_addr(id), text), timeout_ms);
	return RPMA_E_PROVIDER;
}

bool rpma_address_is_loopback(const struct rdma_addrinfo *info)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (info->ai_src_addr->sa_family == AF_INET) {
		memcpy(&in, info->ai_src_addr, sizeof(in));
		return ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	}
	memcpy(&in6, info->ai_src_addr, sizeof(in6));
	return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

int rpma_address_resolve_self(const struct rdma_addrinfo *info, struct rdma_cm_id *id,
			      int timeout_ms)
{
	return resolve(id, NULL, info->ai_src_addr, timeout_ms);
}
