/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_open.c -- the open loop: operations begin when they were planned to,
 * whatever became of those before.
 *
 * The plan is absolute: arrivals.c computes when operation i is due. One that finds no room is
 * posted as soon as there is some, and its response latency counts from its plan, so that a stall
 * costs all who had to wait.
 */
#include "loop_core.h"

/* poll(2) may wake up later than asked, by the timer slack and a switch */
#define WAKE_UP_NS 200000

/* An operation that is due at the very end is not part of it. */
static double end_ns(const struct loop *l)
{
	return (double)l->cfg->duration_ns - 0.5;
}

/* In nanoseconds, so that the ticks of no clock move one beyond the end. */
static void plan_next(struct loop *l)
{
	double due_ns = arrivals_next(&l->arrivals);

	l->plan = l->begin + (uint64_t)(due_ns * l->ticks_per_ns);
	if (l->posted == l->post_max || (due_ns > end_ns(l) && l->posted >= l->cfg->min_ops))
		measure_stop(l);
}

/* How many operations of the plan were not begun. */
static uint64_t unbegun(const struct loop *l)
{
	uint64_t left = arrivals_left(&l->arrivals, end_ns(l));
	uint64_t most = l->cfg->max_ops > 0 ? l->cfg->max_ops - l->posted : left;

	return left < most ? left : most;
}

/* The next queue pair that has room, in turn; NULL: none. */
static struct inflight *find_room(struct loop *l)
{
	uint32_t qps = l->cfg->qps_count;

	for (uint32_t i = 0; i < qps; i++) {
		struct inflight *r = &l->inflight[l->turn];

		l->turn = l->turn + 1 == qps ? 0 : l->turn + 1;
		if (measure_in_flight(r) < l->cfg->depth && r->posted < r->limit)
			return r;
	}
	return NULL;
}

static int post_one(struct loop *l, struct inflight *r)
{
	uint32_t slot = r->post_slot;
	uint64_t lag;
	int ret;

	r->planned[slot] = l->plan;
	ret = measure_post(l, r, false, 0);
	if (ret)
		return ret;
	lag = r->begun[slot] - l->plan;
	l->out->late_ops += (double)lag > l->cfg->period_ns * l->ticks_per_ns;
	l->max_lag = lag > l->max_lag ? lag : l->max_lag;
	l->posted++;
	plan_next(l);
	return 0;
}

static bool in_flight(const struct loop *l)
{
	for (uint32_t i = 0; i < l->cfg->qps_count; i++) {
		if (measure_in_flight(&l->inflight[i]) > 0)
			return true;
	}
	return false;
}

static int poll_all(struct loop *l)
{
	int got = 0, ret = 0;

	for (uint32_t i = 0; i < l->cfg->qps_count && ret >= 0; i++) {
		if (measure_in_flight(&l->inflight[i]) == 0)
			continue;
		ret = measure_poll(l, &l->inflight[i], false);
		got += ret;
	}
	return ret < 0 ? ret : got;
}

/* Nothing is due, or nothing can be posted, and no completion is there. */
static int idle(struct loop *l, uint64_t now, bool full, unsigned empty)
{
	uint64_t wait_ns = MEASURE_WINDOW_NS;

	if (l->cfg->completion == BENCH_EVENT) {
		if (!full && l->posted < l->post_max) {
			uint64_t left = l->plan > now ? clock_ns(l->cfg->clock, l->plan - now) : 0;

			left = left > WAKE_UP_NS ? left - WAKE_UP_NS : 0;
			wait_ns = left < wait_ns ? left : wait_ns;
		}
		return wait_ns > 0 ? measure_wait(l, wait_ns) : 0;
	}
	return empty % MEASURE_EMPTY_POLLS == 0 ? measure_check_progress(l) : 0;
}

int measure_open(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;
	unsigned empty = 0;
	int ret = 0;

	arrivals_init(&l->arrivals, cfg->arrivals, cfg->period_ns, cfg->first_ns, cfg->seed);
	plan_next(l);
	while (ret == 0 && (l->posted < l->post_max || in_flight(l))) {
		uint64_t now = clock_now(cfg->clock);
		bool due = l->posted < l->post_max && l->plan <= now;
		struct inflight *r = due ? find_room(l) : NULL;
		int got = 0;

		if (now >= l->next_check)
			measure_time_check(l, now);
		if (r != NULL && l->posted < l->post_max)
			ret = post_one(l, r);
		if (ret == 0)
			got = poll_all(l);
		if (got < 0)
			return got;
		empty = got > 0 || r != NULL ? 0 : empty + 1;
		if (ret == 0 && empty > 0)
			ret = idle(l, now, due, empty);
	}
	/* stopped by a signal it had no time to begin them */
	if (!l->out->interrupted)
		l->out->unbegun_ops = unbegun(l);
	return ret;
}
