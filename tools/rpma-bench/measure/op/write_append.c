/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_append.c -- a record appended to a log: write and flush it,
 * then write the log's tail atomically and flush that. After a power failure
 * the tail tells which records are whole.
 */
#include "tools/rpma-bench/measure/loop_single.h"

#include <endian.h>
#include <string.h>

static int move_tail(struct qp *qp, uint64_t tail, uint32_t slot, int flags)
{
	char word[RPMA_ATOMIC_WRITE_ALIGNMENT];

	tail = htole64(tail);
	memcpy(word, &tail, sizeof(word));
	return rpma_atomic_write(qp->conn, qp->remote, access_tail_offset(&qp->access), word, flags,
				 operation_context(slot));
}

static __always_inline int commit_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	int ret = operation_write_slot(qp, target_slot, slot, qp->leading);

	if (ret == 0)
		ret = operation_flush_slot(qp, target_slot, slot, qp->leading);
	if (ret)
		return ret;
	return move_tail(qp, access_tail(&qp->access, target_slot), slot, flags);
}

static __always_inline int post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags)
{
	int ret = commit_at(qp, target_slot, slot, qp->leading);

	if (ret)
		return ret;
	return rpma_flush(qp->conn, qp->remote, access_tail_offset(&qp->access),
			  RPMA_ATOMIC_WRITE_ALIGNMENT, qp->flush_type, flags,
			  operation_context(slot));
}

static int commit(struct qp *qp, uint32_t slot, int flags)
{
	return operation_post_in(qp, &qp->access, slot, flags, commit_at);
}

MEASURE_POSTS(access, post_at)

static const struct operation up_to_tail = {
	.op = BENCH_WRITE,
	.persist = BENCH_APPEND,
	.work_requests = 3,
	.atomic_writes = true,
	.post = commit,
};

const struct operation operation_write_append = {
	.op = BENCH_WRITE,
	.persist = BENCH_APPEND,
	.latency_kind = "atomic_write_commit",
	.work_requests = 4,
	.flushes = true,
	.source_usage = RPMA_MR_USAGE_WRITE_SRC,
	.post = post,
	.single = single,
	.up_to_atomic_write = &up_to_tail,
};
