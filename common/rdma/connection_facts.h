/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection_facts.h -- what a connection was granted: queues, numbers, path.
 */
#ifndef COMMON_RDMA_CONNECTION_FACTS_H
#define COMMON_RDMA_CONNECTION_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "connection_knobs.h"

#define CONNECTION_GID_MAX 48

struct connection_facts {
	bool known; /* librpma is 1.4 or newer */
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t cq_size;
	struct connection_knobs
		knobs;		      /* as configured; of CONNECTION_INLINE what the device gave */
	uint32_t path_mtu_bytes;      /* 0: not known */
	int gid_index;		      /* -1: not known */
	const char *gid_type;	      /* ib, roce-v1, roce-v2; NULL: not known */
	char gid[CONNECTION_GID_MAX]; /* as an IPv6 address; empty: not known */
};

void connection_facts_take(struct connection_facts *facts, const struct connection *connection);

#endif /* COMMON_RDMA_CONNECTION_FACTS_H */
