/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * addrinfo.c -- rdma_getaddrinfo(3), over getaddrinfo(3).
 *
 * Of what that finds the first address is taken, as librdmacm does; it is where to connect to, or
 * with RAI_PASSIVE what to bind. There are no routes to be given.
 */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "soft_device/process/process.h"

static void to_socket_hints(const struct rdma_addrinfo *hints, struct addrinfo *ai)
{
	if ((hints->ai_flags & RAI_PASSIVE) != 0)
		ai->ai_flags |= AI_PASSIVE;
	if ((hints->ai_flags & RAI_NUMERICHOST) != 0)
		ai->ai_flags |= AI_NUMERICHOST;
	if ((hints->ai_flags & RAI_FAMILY) != 0)
		ai->ai_family = hints->ai_family;
	if (hints->ai_qp_type == IBV_QPT_UD || hints->ai_port_space == RDMA_PS_UDP)
		ai->ai_socktype = SOCK_DGRAM;
	else
		ai->ai_socktype = SOCK_STREAM;
}

/* A copy of an address; 0 or EAI_MEMORY. */
static int copy(const void *from, socklen_t bytes, struct sockaddr **to, socklen_t *to_bytes)
{
	*to = malloc(bytes);
	if (*to == NULL)
		return EAI_MEMORY;
	memcpy(*to, from, bytes);
	*to_bytes = bytes;
	return 0;
}

static int copy_name(const char *name, char **to)
{
	if (name == NULL)
		return 0;
	*to = strdup(name);
	return *to == NULL ? EAI_MEMORY : 0;
}

static int look_up(const char *node, const char *service, struct rdma_addrinfo *res)
{
	struct addrinfo hints = {0}, *found;
	int error;

	to_socket_hints(res, &hints);
	error = getaddrinfo(node, service, &hints, &found);
	if (error != 0)
		return error;
	res->ai_family = found->ai_family;
	if ((res->ai_flags & RAI_PASSIVE) != 0) {
		error = copy(found->ai_addr, found->ai_addrlen, &res->ai_src_addr,
			     &res->ai_src_len);
		if (error == 0)
			error = copy_name(found->ai_canonname, &res->ai_src_canonname);
	} else {
		error = copy(found->ai_addr, found->ai_addrlen, &res->ai_dst_addr,
			     &res->ai_dst_len);
		if (error == 0)
			error = copy_name(found->ai_canonname, &res->ai_dst_canonname);
	}
	freeaddrinfo(found);
	return error;
}

/* The caller's hints and what follows from them: RC over the TCP port space, if nothing else. */
static void take_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo *res)
{
	if (hints != NULL) {
		res->ai_flags = hints->ai_flags;
		res->ai_family = hints->ai_family;
		res->ai_qp_type = hints->ai_qp_type;
		res->ai_port_space = hints->ai_port_space;
	}
	if (res->ai_qp_type == 0)
		res->ai_qp_type = res->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	if (res->ai_port_space == 0)
		res->ai_port_space = res->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

/* Addresses that the caller gave and the look-up did not. */
static int take_addresses(const struct rdma_addrinfo *hints, struct rdma_addrinfo *res)
{
	int error = 0;

	if (hints == NULL)
		return 0;
	if (res->ai_src_addr == NULL && hints->ai_src_len > 0)
		error = copy(hints->ai_src_addr, hints->ai_src_len, &res->ai_src_addr,
			     &res->ai_src_len);
	if (error == 0 && res->ai_dst_addr == NULL && hints->ai_dst_len > 0)
		error = copy(hints->ai_dst_addr, hints->ai_dst_len, &res->ai_dst_addr,
			     &res->ai_dst_len);
	return error;
}

static void addrinfo_delete(struct rdma_addrinfo *res)
{
	while (res != NULL) {
		struct rdma_addrinfo *next = res->ai_next;

		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
		res = next;
	}
}

/* Returns as getaddrinfo() does, or -1 with errno. */
SOFT_EXPORT int rdma_getaddrinfo(const char *node, const char *service,
				 const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
	struct rdma_addrinfo *found;
	int error = FAULT_CALL();

	if (error == 0 && ((node == NULL && service == NULL && hints == NULL) || res == NULL))
		error = REFUSE(EINVAL, __func__, "%s is NULL",
			       res == NULL ? "res" : "each of node, service and hints");
	if (error != 0)
		return call_failed(error);
	found = calloc(1, sizeof(*found));
	if (found == NULL)
		return -1;
	take_hints(hints, found);
	if (node != NULL || service != NULL)
		error = look_up(node, service, found);
	if (error == 0)
		error = take_addresses(hints, found);
	if (error != 0) {
		addrinfo_delete(found);
		return error;
	}
	*res = found;
	return 0;
}

SOFT_EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	addrinfo_delete(res);
}
