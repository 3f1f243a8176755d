/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_imm.c -- one RDMA write with immediate data: like a write,
 * but it takes a receive of the server, whose completion carries the slot.
 */
#include "tools/rpma-bench/measure/loop_single.h"

static __always_inline int post_at(struct lane *lane, uint64_t target_slot, uint32_t slot,
				   int flags)
{
	return rpma_write_with_imm(
		lane->conn, lane->remote, access_offset(&lane->access, target_slot), lane->source,
		lane->source_offset + access_source(&lane->access, target_slot), lane->size_bytes,
		flags | lane->inlined, slot, operation_context(slot));
}

static __always_inline int post(struct lane *lane, uint32_t slot, int flags)
{
	return operation_post_in(lane, &lane->access, slot, flags, post_at);
}

static int single(struct loop *loop)
{
	return measure_single(loop, post);
}

const struct operation operation_write_imm = {
	.op = BENCH_WRITE_IMM,
	.persist = BENCH_NONE,
	.latency_kind = "post_to_cqe",
	.work_requests = 1,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};
