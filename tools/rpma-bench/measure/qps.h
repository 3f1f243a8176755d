/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qps.h -- the queue pairs of all threads of one side, and what they send from and
 * receive into: one mapping a thread, registered once, near the thread.
 */
#pragma once

#include "common/host/topology.h"
#include "common/rdma/region.h"
#include "operation.h"
#include "qp.h"
#include "workers.h"

struct qps_cfg {
	struct rpma_peer *peer;
	const struct params *params;
	const struct operation *operation;
	const struct operation *reads; /* the reads of a mix, else NULL */
	uint64_t target_bytes;	       /* where the queue pairs write to and read from */
	uint64_t seed;		       /* from the run's seed and the repeat */
	const struct topology *topology;
	int node; /* NUMA node of the memory; -1: the kernel chooses */
	enum rpma_flush_type flush_type;
	uint32_t inline_bytes; /* operations of up to so many are posted inline */
	bool huge_pages;
};

struct qp_memory {
	unsigned char *bytes;
	size_t size_bytes;
	struct rpma_mr_local *mr;
	uint32_t *draws; /* with a Zipf pattern: ACCESS_DRAWS for each queue pair; else NULL */
	uint32_t *sizes; /* with mixed sizes: SIZE_MIX_DRAWS for each queue pair; else NULL */
	int bind_error;	 /* -errno: the node was refused */
};

struct qps {
	struct qps_cfg cfg;
	struct connection_queues queues; /* each has these */
	struct qp *all;			 /* owned, as memory; NULL: there are none */
	struct qp_memory *memory;	 /* one per thread */
};

/*
 * Makes the queue pairs, ready to be attached, and their memory: each thread touches every
 * page of its own. qps_free() is still to be called when it fails.
 */
int qps_make(struct qps *qps, const struct qps_cfg *cfg, struct workers *workers);
/*
 * Gives a queue pair its connection and its target, and readies it for its first
 * operations. Takes the connection in any case.
 */
int qps_attach(struct qps *qps, uint32_t index, struct connection *connection,
	       const struct region_desc *target);
/* Detaches them first; what was never made is fine if it is zero. */
void qps_free(struct qps *qps);
