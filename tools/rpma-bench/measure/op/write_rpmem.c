/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_rpmem.c -- one rpmem_persist(): timed until it returns, when the range is durable
 * on the target of librpmem. Its queue pair of librpma is connected, and idle.
 */
#include "tools/rpma-bench/measure/loop_single.h"
#include "tools/rpma-bench/measure/remote_pool.h"

static __always_inline int persist(struct qp *qp, uint64_t target_slot, bool relaxed)
{
	return remote_pool_persist(qp->pool, qp->index, access_offset(&qp->access, target_slot),
				   qp->size_bytes, relaxed);
}

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	(void)slot;
	(void)flags;
	return persist(qp, target_slot, false);
}

static __always_inline int post_relaxed_at(struct qp *qp, uint64_t target_slot, uint32_t slot,
					   int flags)
{
	(void)slot;
	(void)flags;
	return persist(qp, target_slot, true);
}

static __always_inline int post(struct qp *qp, uint32_t slot, int flags)
{
	return operation_post_in(qp, &qp->access, slot, flags, post_at);
}

static __always_inline int post_relaxed(struct qp *qp, uint32_t slot, int flags)
{
	return operation_post_in(qp, &qp->access, slot, flags, post_relaxed_at);
}

static int single(struct loop *loop)
{
	return measure_single_call(loop, post);
}

static int single_relaxed(struct loop *loop)
{
	return measure_single_call(loop, post_relaxed);
}

#define RPMEM(how, post_of_it, single_of_it)                                                       \
	{                                                                                          \
		.op = BENCH_WRITE, .persist = (how), .latency_kind = "rpmem_persist",              \
		.work_requests = 1, .source_usage = RPMA_MR_USAGE_WRITE_SRC, .post = (post_of_it), \
		.single = (single_of_it),                                                          \
	}

const struct operation operation_write_rpmem = RPMEM(BENCH_RPMEM, post, single);
const struct operation operation_write_rpmem_relaxed =
	RPMEM(BENCH_RPMEM_RELAXED, post_relaxed, single_relaxed);
