/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * address.h -- GIDs and socket addresses.
 */
#ifndef SOFT_TRANSPORT_ADDRESS_H
#define SOFT_TRANSPORT_ADDRESS_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <sys/socket.h>

/* All zeros for another family than IPv4 and IPv6. */
void gid_from_sockaddr(union ibv_gid *gid, const struct sockaddr *addr);

/* AF_INET for mapped GIDs. The bytes of the address. */
socklen_t gid_to_sockaddr(const union ibv_gid *gid, uint16_t port, uint32_t scope_id,
			  struct sockaddr_storage *addr);

#endif /* SOFT_TRANSPORT_ADDRESS_H */
