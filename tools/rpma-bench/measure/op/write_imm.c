/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_imm.c -- one RDMA write with immediate data: like a write,
 * but it takes a receive of the server, whose completion carries the slot.
 */
#include "tools/rpma-bench/measure/loop_single.h"

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	return rpma_write_with_imm(
		qp->conn, qp->remote, access_offset(&qp->access, target_slot), qp->source,
		qp->source_offset + access_source(&qp->access, target_slot), qp->size_bytes,
		flags | qp->inlined, slot, operation_context(slot));
}

MEASURE_POSTS(access, post_at)

const struct operation operation_write_imm = {
	.op = BENCH_WRITE_IMM,
	.persist = BENCH_NONE,
	.latency_kind = "post_to_cqe",
	.work_requests = 1,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};
