/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_closed.c -- the closed loop: each lane keeps its depth of operations
 * in flight, so a new one begins when an old one is done.
 */
#include "loop_core.h"

static __always_inline int fill(struct loop *l, struct lane_state *r, bool plain)
{
	uint64_t until = r->done + l->cfg->depth;
	int ret = 0;

	until = until < r->limit ? until : r->limit;
	while (ret == 0 && r->posted < until)
		ret = measure_post(l, r, plain);
	return ret;
}

/* Polls a lane once, and posts what it has room for. Gives as measure_poll(). */
static __always_inline int turn(struct loop *l, struct lane_state *r, bool plain)
{
	int got = measure_poll(l, r, plain), ret;

	if (got <= 0)
		return got;
	if (__builtin_expect(l->last >= l->next_look, 0))
		measure_time_look(l, l->last);
	ret = fill(l, r, plain);
	return ret ? ret : got;
}

static int nothing_came(struct loop *l, unsigned empty)
{
	if (l->cfg->completion == BENCH_EVENT)
		return measure_wait(l, MEASURE_WINDOW_NS);
	return empty % MEASURE_EMPTY_POLLS == 0 ? measure_check_progress(l) : 0;
}

static __always_inline int run(struct loop *l, bool plain)
{
	struct lane_state *rings = l->rings, *end = rings + l->cfg->lanes_count, *r;
	unsigned empty = 0;
	bool busy = true;
	int ret = 0;

	for (r = rings; r < end && ret == 0; r++)
		ret = fill(l, r, plain);
	while (busy && ret == 0) {
		int got = 0;

		busy = false;
		for (r = rings; r < end && ret >= 0; r++) {
			if (measure_in_flight(r) == 0)
				continue;
			ret = turn(l, r, plain);
			got += ret;
			busy |= measure_in_flight(r) > 0;
		}
		if (ret < 0)
			break;
		empty = got > 0 ? 0 : empty + 1;
		ret = got > 0 || !busy ? 0 : nothing_came(l, empty);
	}
	return ret;
}

int measure_closed(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;

	return cfg->reads == NULL && !cfg->operation->answered ? run(l, true) : run(l, false);
}
