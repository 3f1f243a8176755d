/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h -- GIDs and socket addresses. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* All zeros for another family than IPv4 and IPv6. */
void gid_from_sockaddr(union ibv_gid *gid, const struct sockaddr *addr);

/* AF_INET for mapped GIDs. The bytes of the address. */
socklen_t gid_to_sockaddr(const union ibv_gid *gid, uint16_t port, uint32_t scope_id,
			  struct sockaddr_storage *addr);

/* The two ends of a connected socket; 0 or -errno. */
int gid_of_socket(int fd, union ibv_gid *own, union ibv_gid *remote);

/*
 * True if the address is one of this network namespace's own: only processes in it can connect
 * from there, and their user is known to the kernel. One query of the routing table; true as
 * well when it cannot be asked, so that proof is wanted then.
 */
bool gid_is_of_this_host(const union ibv_gid *gid);
