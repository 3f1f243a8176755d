/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_write.c -- one RDMA write; it completes when the peer's RDMA
 * device has acknowledged it, which says nothing of its memory.
 */
#include "operation.h"

static int post(struct lane *lane, uint32_t slot)
{
	return rpma_write(lane->conn, lane->remote, operation_next_offset(lane), lane->local,
			  slot * lane->local_stride, lane->size_bytes, RPMA_F_COMPLETION_ALWAYS,
			  operation_context(slot));
}

const struct operation operation_write = {
	.op = BENCH_WRITE,
	.persist = BENCH_NONE,
	.latency_kind = "post_to_cqe",
	.work_requests = 1,
	.local_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
};
