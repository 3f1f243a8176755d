/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write.c -- one RDMA write; it completes when the peer's RDMA
 * device has acknowledged it, which does not mean that it is in memory.
 */
#include "tools/rpma-bench/measure/loop_single.h"

MEASURE_POSTS(access, operation_write_slot)

const struct operation operation_write = {
	.op = BENCH_WRITE,
	.persist = BENCH_NONE,
	.latency_kind = "post_to_cqe",
	.work_requests = 1,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};
