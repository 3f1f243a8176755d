/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lanes.h -- the lanes of all threads of one side, and what they send from and
 * receive into: one mapping a thread, registered once, near the thread.
 */
#ifndef BENCH_MEASURE_LANES_H
#define BENCH_MEASURE_LANES_H

#include "common/host/topology.h"
#include "operation.h"
#include "qp.h"
#include "workers.h"

struct lanes_cfg {
	struct rpma_peer *peer;
	const struct params *params;
	const struct operation *operation;
	const struct operation *reads; /* the reads of a mix, else NULL */
	uint64_t target_bytes;	       /* where the lanes write to and read from */
	uint64_t seed;		       /* from the run's seed and the repeat */
	const struct topology *topology;
	int node; /* NUMA node of the memory; -1: the kernel chooses */
	enum rpma_flush_type flush_type;
	uint32_t inline_bytes; /* operations of up to so many are posted inline */
	bool huge_pages;
};

struct lane_memory {
	unsigned char *bytes;
	size_t size_bytes;
	struct rpma_mr_local *mr;
	uint32_t *places; /* with a Zipf pattern: ACCESS_PLACES for each of its lanes; else NULL */
	uint32_t *sizes;  /* with mixed sizes: SIZE_MIX_DRAWS for each of its lanes; else NULL */
	int bind_error;	  /* -errno: the node was refused */
};

struct lanes {
	struct lanes_cfg cfg;
	struct lane *all;	    /* owned, as memory; NULL: there are none */
	struct lane_memory *memory; /* one per thread */
};

/*
 * Makes the lanes, ready to be attached, and their memory: each thread touches every
 * page of its own. lanes_free() is still to be called when it fails.
 */
int lanes_make(struct lanes *lanes, const struct lanes_cfg *cfg, struct workers *workers);
/* Detaches them first; what was never made is fine if it is zero. */
void lanes_free(struct lanes *lanes);

#endif /* BENCH_MEASURE_LANES_H */
