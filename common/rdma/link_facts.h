/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_facts.h -- what a connection was granted: queues, numbers, path.
 */
#ifndef COMMON_RDMA_LINK_FACTS_H
#define COMMON_RDMA_LINK_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "link_knobs.h"

#define LINK_GID_MAX 48

struct link_facts {
	bool known; /* librpma is 1.4 or newer */
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t cq_size;
	struct link_knobs knobs; /* as configured; of LINK_INLINE what the device gave */
	uint32_t path_mtu_bytes; /* 0: not known */
	int gid_index;		 /* -1: not known */
	const char *gid_type;	 /* ib, roce-v1, roce-v2; NULL: not known */
	char gid[LINK_GID_MAX];	 /* as an IPv6 address; empty: not known */
};

void link_facts_take(struct link_facts *facts, const struct link *link);

#endif /* COMMON_RDMA_LINK_FACTS_H */
