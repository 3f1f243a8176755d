/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_flush.c -- one RDMA write and the flush that makes it
 * persistent: timed until the flush completes.
 *
 * librpma decides whether a flush is a read behind the write (the appliance
 * method) or an RDMA FLUSH; the completions tell which it was. What is told
 * apart here is what the user asked for.
 */
#include "tools/rpma-bench/measure/loop_single.h"

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	int ret = operation_write_slot(qp, target_slot, slot, qp->leading);

	if (ret)
		return ret;
	return operation_flush_slot(qp, target_slot, slot, flags);
}

MEASURE_POSTS(access, post_at)

const struct operation operation_write_apm = {
	.op = BENCH_WRITE,
	.persist = BENCH_APM,
	.latency_kind = "write_flush",
	.work_requests = 2,
	.flushes = true,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};

const struct operation operation_write_native = {
	.op = BENCH_WRITE,
	.persist = BENCH_NATIVE,
	.latency_kind = "write_flush_native",
	.work_requests = 2,
	.flushes = true,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};
