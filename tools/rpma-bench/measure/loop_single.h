/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_single.h -- the closed loop of one queue pair and depth 1: an operation,
 * and when it is done the next one.
 *
 * The latency test lives here, so nothing is done that could be done before or
 * later: each operation has such a loop with its post taken in, and samples
 * are counted by their ticks, to become nanoseconds when a histogram is asked
 * for.
 */
#pragma once

#include "loop_core.h"

/* For the rest of the code: how many posts are left, and are in flight. */
void measure_single_sync(struct loop *l, uint64_t last, uint64_t left, uint64_t in_flight);
/* A sample that the table of counts has no slot for. */
void measure_single_record(struct loop *l, uint64_t ticks);
/* The same when it is time for a look; gives how many are left. */
uint64_t measure_single_check(struct loop *l, uint64_t end, uint64_t left, uint64_t ticks);
/* Polls for the completion of what began then; ret is what the first poll gave. */
int measure_single_wait(struct loop *l, int ret, uint64_t begin, uint64_t left, struct ibv_wc *wc);

static __always_inline uint64_t measure_single_now(bool counter)
{
	return counter ? clock_counter() : clock_raw_ns();
}

/* waits: for a completion; else post returns when all is done, or has set the error message. */
static __always_inline int measure_single_by(struct loop *l, operation_post *post, bool counter,
					     bool waits)
{
	struct qp *qp = l->inflight->qp;
	uint64_t *counts = l->counts;
	uint64_t end = l->begin, left = l->inflight->limit;
	struct ibv_wc wc = {0};

	for (; left > 0; left--) {
		uint64_t begin = measure_single_now(counter), ticks;
		int ret = post(qp, 0, RPMA_F_COMPLETION_ALWAYS);

		if (__builtin_expect(ret != 0, 0))
			return waits ? measure_post_failed(l->inflight, l->cfg->operation, ret)
				     : ret;
		if (waits)
			ret = measure_get_wc(l, qp, &wc, NULL);
		if (ret != 0 && (ret = measure_single_wait(l, ret, begin, left - 1, &wc)) != 0)
			return ret;
		end = measure_single_now(counter);
		if (__builtin_expect(wc.status != IBV_WC_SUCCESS, 0))
			return measure_completion_failed(l, l->inflight, &wc);
		ticks = end - begin;
		if (__builtin_expect(end >= l->next_check, 0)) {
			left = measure_single_check(l, end, left, ticks);
			continue;
		}
		if (__builtin_expect(ticks < MEASURE_COUNTS, 1))
			counts[ticks]++;
		else
			measure_single_record(l, ticks);
	}
	measure_single_sync(l, end, 0, 0);
	l->opcode = wc.opcode;
	return 0;
}

/* For an operation that is not answered; post is a constant. */
static __always_inline int measure_single(struct loop *l, operation_post *post)
{
	return l->cfg->clock->counter ? measure_single_by(l, post, true, true)
				      : measure_single_by(l, post, false, true);
}

/* For an operation that is a call. */
static __always_inline int measure_single_call(struct loop *l, operation_post *post)
{
	return l->cfg->clock->counter ? measure_single_by(l, post, true, false)
				      : measure_single_by(l, post, false, false);
}

/*
 * post() and single() of an operation that is not answered: posted by post_at, a constant, at the
 * next slot of this struct access of the queue pair.
 */
#define MEASURE_POSTS(access, post_at)                                                             \
	static __always_inline int post(struct qp *qp, uint32_t slot, int flags)                   \
	{                                                                                          \
		return operation_post_in(qp, &qp->access, slot, flags, post_at);                   \
	}                                                                                          \
                                                                                                   \
	static int single(struct loop *loop)                                                       \
	{                                                                                          \
		return measure_single(loop, post);                                                 \
	}
