/* SPDX-License-Identifier: BSD-3-Clause */
/* address.h -- from a host name and a port to an RDMA CM identifier. */
#pragma once

#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

enum rpma_side {
	RPMA_ACTIVE, /* connects */
	RPMA_PASSIVE /* listens */
};

/* Look addr and port (NULL: any) up. The caller frees *info_ptr with rdma_freeaddrinfo(3). */
int rpma_address_new(const char *addr, const char *port, enum rpma_side side,
		     struct rdma_addrinfo **info_ptr);

/* All addresses that addr has, for freeaddrinfo(3). */
int rpma_address_list(const char *addr, const char *port, struct addrinfo **list_ptr);

/* A new identifier on evch, or, with evch NULL, one whose calls block. */
int rpma_address_create_id(struct rdma_event_channel *evch, struct rdma_cm_id **id_ptr);

/* Bind id to the local address of a passive info. */
int rpma_address_bind(const struct rdma_addrinfo *info, struct rdma_cm_id *id);

/* Bind id to the device that has a path to the remote address of info. */
int rpma_address_resolve(const struct rdma_addrinfo *info, struct rdma_cm_id *id, int timeout_ms);

/* The same for one address of rpma_address_list(). */
int rpma_address_resolve_to(struct sockaddr *dst, struct rdma_cm_id *id, int timeout_ms);

/* The path to the address that id was bound for. */
int rpma_address_resolve_route(struct rdma_cm_id *id, int timeout_ms);

enum { RPMA_ADDRESS_TEXT_MAX = 72 }; /* an IPv6 address, its scope and a port */

/* Write addr and its port down as "192.0.2.1:7204" or "[2001:db8::1]:7204". */
const char *rpma_address_print(const struct sockaddr *addr, char text[RPMA_ADDRESS_TEXT_MAX]);

/* True if the local address of a passive info is one of 127.0.0.0/8 or ::1. */
bool rpma_address_is_loopback(const struct rdma_addrinfo *info);

/* Bind id to the device that the CM takes for connections to its own address, a passive info's. */
int rpma_address_resolve_self(const struct rdma_addrinfo *info, struct rdma_cm_id *id,
			      int timeout_ms);
