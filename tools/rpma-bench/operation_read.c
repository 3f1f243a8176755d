/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_read.c -- one RDMA read: timed until its data have arrived.
 */
#include "operation.h"

static int post(struct lane *lane, uint32_t slot, bool signal)
{
	return rpma_read(lane->conn, lane->sink, lane->sink_offset + slot * lane->sink_stride,
			 lane->remote, access_offset(&lane->reads, access_next(&lane->reads)),
			 lane->size_bytes, operation_flags(signal), operation_context(slot));
}

const struct operation operation_read = {
	.op = BENCH_READ,
	.persist = BENCH_NONE,
	.latency_kind = "read",
	.work_requests = 1,
	.sink_usage = RPMA_MR_USAGE_READ_DST,
	.post = post,
};
