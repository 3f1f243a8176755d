/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_read.c -- one RDMA read: timed until its data have arrived.
 */
#include "operation.h"

static int post(struct lane *lane, uint32_t slot)
{
	return rpma_read(lane->conn, lane->local, slot * lane->local_stride, lane->remote,
			 operation_next_offset(lane), lane->size_bytes, RPMA_F_COMPLETION_ALWAYS,
			 operation_context(slot));
}

const struct operation operation_read = {
	.op = BENCH_READ,
	.persist = BENCH_NONE,
	.latency_kind = "read",
	.work_requests = 1,
	.local_usage = RPMA_MR_USAGE_READ_DST,
	.post = post,
};
