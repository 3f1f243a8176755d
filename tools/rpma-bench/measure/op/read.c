/* SPDX-License-Identifier: BSD-3-Clause */
/* read.c -- one RDMA read: timed until its data have arrived. */
#include "tools/rpma-bench/measure/loop_single.h"

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	return rpma_read(qp->conn, qp->sink, qp->sink_offset + slot * qp->sink_stride, qp->remote,
			 access_offset(&qp->reads, target_slot), qp->size_bytes, flags,
			 operation_context(slot));
}

MEASURE_POSTS(reads, post_at)

const struct operation operation_read = {
	.op = BENCH_READ,
	.persist = BENCH_NONE,
	.latency_kind = "read",
	.work_requests = 1,
	.sink_usage = RPMA_MR_USAGE_READ_DST,
	.post = post,
	.single = single,
};
