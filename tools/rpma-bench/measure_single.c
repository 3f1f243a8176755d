/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure_single.c -- the closed loop of one lane and depth 1: a plain
 * operation, and when it is done the next one.
 *
 * The latency test lives here, so nothing is done that could be done before or
 * later. The end of an operation is the begin of the next one, unless more was
 * done between them than to count a sample: samples are counted by their
 * ticks, and become nanoseconds when a histogram is asked for.
 */
#include "measure_loop.h"

#include <string.h>

void measure_single_flush(struct loop *l)
{
	if (l->counts == NULL)
		return;
	for (uint64_t ticks = 0; ticks < MEASURE_COUNTS && l->latency != NULL; ticks++) {
		if (l->counts[ticks] > 0)
			histogram_add(l->latency, clock_ns(l->cfg->clock, ticks), l->counts[ticks]);
	}
	memset(l->counts, 0, MEASURE_COUNTS * sizeof(l->counts[0]));
}

/* What the rest of the code looks at, when it does. */
static void tell(struct loop *l, uint64_t last, uint64_t left, uint64_t in_flight)
{
	struct ring *r = l->rings;

	l->last = last;
	r->posted = r->limit - left;
	r->done = r->posted - in_flight;
}

static measure_inline uint64_t now_by(bool counter)
{
	return counter ? clock_counter() : clock_raw_ns();
}

static measure_inline int run(struct loop *l, bool counter)
{
	struct ring *r = l->rings;
	struct lane *lane = r->lane;
	struct rpma_cq *cq = lane->cq;
	int (*post)(struct lane *, uint32_t, int) = l->cfg->operation->post;
	uint32_t *counts = l->counts;
	uint64_t begin = l->begin, end = begin, left = r->limit;
	unsigned empty = 0;
	struct ibv_wc wc = {0};
	int ret;

	for (; left > 0; left--) {
		uint64_t ticks;

		ret = post(lane, 0, RPMA_F_COMPLETION_ALWAYS);
		if (__builtin_expect(ret != 0, 0))
			return measure_post_failed(r, l->cfg->operation, ret);
		while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) != 0) {
			if (ret != RPMA_E_NO_COMPLETION)
				return measure_poll_failed(r, ret);
			if (++empty % MEASURE_EMPTY_POLLS != 0)
				continue;
			tell(l, begin, left - 1, 1);
			if ((ret = measure_look_around(l)) != 0)
				return ret;
		}
		end = now_by(counter);
		if (__builtin_expect(wc.status != IBV_WC_SUCCESS, 0))
			return measure_completion_failed(l, r, &wc);
		ticks = end - begin;
		begin = end;
		if (__builtin_expect(ticks < MEASURE_COUNTS, 1)) {
			counts[ticks]++;
		} else {
			measure_record(l, l->latency, ticks);
			begin = now_by(counter);
		}
		if (__builtin_expect(end < l->next_look, 1))
			continue;
		tell(l, end, left - 1, 0);
		measure_time_look(l, end);
		left = r->limit - r->posted + 1;
		begin = now_by(counter);
	}
	tell(l, end, 0, 0);
	l->opcode = wc.opcode;
	return 0;
}

int measure_single(struct loop *l)
{
	return l->cfg->clock->counter ? run(l, true) : run(l, false);
}
