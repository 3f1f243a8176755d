/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_write_flush.c -- one RDMA write and the flush that makes it
 * persistent (the appliance method): timed until the flush completes.
 */
#include "operation.h"

static int post(struct lane *lane, uint32_t slot)
{
	uint64_t offset = operation_next_offset(lane);
	int ret =
		rpma_write(lane->conn, lane->remote, offset, lane->local, slot * lane->local_stride,
			   lane->size_bytes, RPMA_F_COMPLETION_ON_ERROR, operation_context(slot));

	if (ret)
		return ret;
	return rpma_flush(lane->conn, lane->remote, offset, lane->size_bytes, lane->flush_type,
			  RPMA_F_COMPLETION_ALWAYS, operation_context(slot));
}

const struct operation operation_write_flush = {
	.op = BENCH_WRITE,
	.persist = BENCH_APM,
	.latency_kind = "write_flush",
	.work_requests = 2,
	.local_usage = RPMA_MR_USAGE_WRITE_SRC,
	.flushes = 1,
	.post = post,
};
