/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure_closed.c -- the closed loop: each lane keeps its depth of operations
 * in flight, so a new one begins when an old one is done.
 */
#include "measure_loop.h"

static inline int fill(struct loop *l, struct ring *r)
{
	uint64_t until = r->done + l->cfg->depth;
	int ret = 0;

	while (ret == 0 && r->posted < until && r->posted < r->limit)
		ret = measure_post(l, r);
	return ret;
}

/* Polls a lane once, and posts what it has room for. Gives as measure_poll(). */
static inline int turn(struct loop *l, struct ring *r)
{
	int got = measure_poll(l, r), ret;

	if (got <= 0)
		return got;
	if (__builtin_expect(l->last >= l->next_look, 0))
		measure_time_look(l, l->last);
	ret = fill(l, r);
	return ret ? ret : got;
}

static int nothing_came(struct loop *l, unsigned empty)
{
	if (l->cfg->completion == BENCH_EVENT)
		return measure_wait(l, MEASURE_WINDOW_NS);
	return empty % MEASURE_EMPTY_POLLS == 0 ? measure_look_around(l) : 0;
}

int measure_closed(struct loop *l)
{
	uint32_t lanes = l->cfg->lanes_count;
	unsigned empty = 0;
	bool busy = true;
	int ret = 0;

	for (uint32_t i = 0; i < lanes && ret == 0; i++)
		ret = fill(l, &l->rings[i]);
	while (busy && ret == 0) {
		int got = 0;

		busy = false;
		for (uint32_t i = 0; i < lanes && ret >= 0; i++) {
			if (measure_in_flight(&l->rings[i]) == 0)
				continue;
			ret = turn(l, &l->rings[i]);
			got += ret;
			busy |= measure_in_flight(&l->rings[i]) > 0;
		}
		if (ret < 0)
			break;
		empty = got > 0 ? 0 : empty + 1;
		ret = got > 0 || !busy ? 0 : nothing_came(l, empty);
	}
	return ret;
}
