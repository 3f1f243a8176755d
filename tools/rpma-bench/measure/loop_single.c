/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_single.c -- what the loops of single operations seldom need: samples
 * out of their counts, and what the rest of the code looks at.
 */
#include "loop_single.h"

#include <string.h>

#define BLOCK 64

/* Most counts are zero: whole blocks of them are passed over. */
static bool any(const uint64_t counts[BLOCK])
{
	uint64_t all = 0;

	for (int i = 0; i < BLOCK; i++)
		all |= counts[i];
	return all != 0;
}

void measure_single_drain(struct loop *l)
{
	const struct clock *clock = l->cfg->clock;

	for (uint64_t at = 0; l->counts != NULL && at < MEASURE_COUNTS; at += BLOCK) {
		uint64_t *counts = l->counts + at;

		if (!any(counts))
			continue;
		for (uint64_t i = 0; i < BLOCK && l->latency != NULL; i++) {
			if (counts[i] > 0)
				histogram_add(l->latency, clock_ns(clock, at + i), counts[i]);
		}
		memset(counts, 0, BLOCK * sizeof(counts[0]));
	}
}

void measure_single_sync(struct loop *l, uint64_t last, uint64_t left, uint64_t in_flight)
{
	struct inflight *r = l->inflight;

	l->last = last;
	r->posted = r->limit - left;
	r->done = r->posted - in_flight;
}

void measure_single_record(struct loop *l, uint64_t ticks)
{
	measure_record(l, l->latency, ticks);
}

uint64_t measure_single_check(struct loop *l, uint64_t end, uint64_t left, uint64_t ticks)
{
	measure_single_sync(l, end, left - 1, 1);
	measure_time_intervals(l, end);
	measure_single_record(l, ticks);
	measure_single_sync(l, end, left - 1, 0);
	measure_time_check(l, end);
	return l->inflight->limit - l->inflight->posted + 1;
}

int measure_single_wait(struct loop *l, int ret, uint64_t begin, uint64_t left, struct ibv_wc *wc)
{
	struct qp *qp = l->inflight->qp;
	unsigned empty = 0;

	for (; ret == RPMA_E_NO_COMPLETION; ret = measure_get_wc(l, qp, wc, NULL)) {
		if (++empty % MEASURE_EMPTY_POLLS != 0)
			continue;
		measure_single_sync(l, begin, left, 1);
		if ((ret = measure_check_progress(l)) != 0)
			return ret;
	}
	return ret == 0 ? 0 : measure_poll_failed(l->inflight, ret);
}
