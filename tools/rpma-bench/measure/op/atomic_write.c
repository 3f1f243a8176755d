/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic_write.c -- 8 aligned bytes that no reader ever sees half
 * written. The data go with the work request, not from registered memory.
 */
#include "tools/rpma-bench/measure/loop_single.h"

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	void *source;
	int ret = rpma_mr_get_ptr(qp->source, &source);

	if (ret)
		return ret;
	return rpma_atomic_write(qp->conn, qp->remote, access_offset(&qp->access, target_slot),
				 (const char *)source + qp->source_offset +
					 access_source(&qp->access, target_slot),
				 flags, operation_context(slot));
}

MEASURE_POSTS(access, post_at)

const struct operation operation_atomic_write = {
	.op = BENCH_ATOMIC_WRITE,
	.persist = BENCH_NONE,
	.latency_kind = "post_to_cqe",
	.work_requests = 1,
	.atomic_writes = true,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
};
