/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * buffers.h -- what the lanes of one thread send from and receive into:
 * one mapping, registered once, near the thread that uses it.
 */
#ifndef BENCH_MEASURE_BUFFERS_H
#define BENCH_MEASURE_BUFFERS_H

#include "operation.h"
#include "qp.h"
#include "tools/common/host/topology.h"

struct lane_memory_cfg {
	struct rpma_peer *peer;
	const struct params *params;
	const struct operation *operation;
	const struct operation *reads; /* of a mix; else NULL */
	uint64_t target_bytes;	       /* where the lanes write to and read from */
	uint64_t seed;		       /* of the run and the repeat */
	const struct topology *topology;
	int node; /* of memory; -1: left to the kernel */
};

struct lane_memory {
	unsigned char *bytes;
	size_t size_bytes;
	struct rpma_mr_local *mr;
	int bind_error; /* -errno: the node was refused */
};

/*
 * Fills in what concerns memory and places of lanes[0..count), whose index is
 * set. Every page is touched by the calling thread. The memory must outlive
 * the lanes.
 */
int lane_memory_make(struct lane_memory *memory, const struct lane_memory_cfg *cfg,
		     struct lane *lanes, uint32_t count);
void lane_memory_free(struct lane_memory *memory);

#endif /* BENCH_MEASURE_BUFFERS_H */
