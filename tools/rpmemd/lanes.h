/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.h -- the lanes of a pool over RDMA: a service of librpma that admits the
 * client of this session, and a thread for each lane.
 */
#pragma once

#include "common/rdma/device.h"
#include "librpmem/wire/control.h"
#include "method.h"
#include "pool.h"

#define LANES_MAX 1024

struct lanes_cfg {
	const struct pool *pool; /* outlives the lanes */
	const char *address;	 /* an address that clients can reach */
	uint32_t nlanes;
	bool persist_apm; /* the configuration wants it */
};

struct lanes;

/*
 * Chooses the method for the device of the address, registers the pool, listens, and serves.
 * `endpoint` gets what a client needs to connect: address, port and token. 0 or -errno with the
 * error message set.
 */
int lanes_open(struct lanes **lanes, const struct lanes_cfg *cfg, struct method *method,
	       struct control_pool_reply *endpoint);
/* Ends the lanes; their threads have left when it returns. NULL is fine. */
void lanes_close(struct lanes **lanes);

/* The RDMA device that serves lanes at this address. 0, or -EINVAL with the error message set. */
int lanes_device(const char *address, char device[DEVICE_NAME_MAX]);
/* How many the device of this address and the open files allow, at most LANES_MAX. */
int lanes_most(const char *address, enum control_transport transport, uint32_t *nlanes);

/* The same over TCP: lanes_tcp.c. */
struct lanes_tcp;

int lanes_tcp_open(struct lanes_tcp **lanes, const struct lanes_cfg *cfg, struct method *method,
		   struct control_pool_reply *endpoint);
void lanes_tcp_close(struct lanes_tcp **lanes);
