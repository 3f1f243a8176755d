/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_time.c -- the end of a measurement, its windows and its intervals:
 * all that the loops do now and then, and never within a sample.
 */
#include "loop_core.h"

#include "tools/common/base/cli.h"

/* A stop is seen within this time. */
#define TICK_NS 1000000
/* Beyond this a span has no end. */
#define SPAN_MAX_NS 1000000000000000000ULL

static uint64_t after(const struct loop *l, uint64_t ns)
{
	return ns < SPAN_MAX_NS ? l->begin + clock_ticks(l->cfg->clock, ns) : UINT64_MAX;
}

uint64_t measure_done(const struct loop *l)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < l->cfg->lanes_count; i++)
		done += l->rings[i].done;
	return done;
}

void measure_time_start(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;

	l->end = after(l, cfg->duration_ns);
	l->hard_end = after(l, cfg->limit_ns);
	l->tick = clock_ticks(cfg->clock, TICK_NS);
	l->window_ticks = clock_ticks(cfg->clock, MEASURE_WINDOW_NS);
	l->window_end = l->begin + l->window_ticks;
	l->interval_ticks = clock_ticks(cfg->clock, cfg->interval_ns);
	l->interval_end = l->begin + l->interval_ticks;
	l->next_look = l->begin;
}

/* Keeps the last MEASURE_WINDOWS windows. */
static void close_window(struct loop *l, uint64_t now)
{
	struct measured *m = l->out;
	uint64_t done = measure_done(l);

	if (m->windows_used == MEASURE_WINDOWS) {
		for (unsigned i = 1; i < MEASURE_WINDOWS; i++)
			m->windows[i - 1] = m->windows[i];
		m->windows_used--;
	}
	/* operations per window, though the window ended late */
	m->windows[m->windows_used++] = (double)(done - l->window_ops) * (double)l->window_ticks /
					(double)(now - l->window_end + l->window_ticks);
	l->window_ops = done;
	l->window_end = now + l->window_ticks;
}

static bool has_intervals(const struct loop *l)
{
	return l->cfg->scratch != NULL && l->out->intervals_used < l->cfg->intervals_max;
}

static void close_interval(struct loop *l, uint64_t now)
{
	const struct measure_cfg *cfg = l->cfg;
	struct measure_interval *i = &cfg->intervals[l->out->intervals_used++];
	uint64_t done = measure_done(l);
	struct percentile p50, p99;

	measure_single_drain(l);
	p50 = histogram_percentile(cfg->scratch, 0.5);
	p99 = histogram_percentile(cfg->scratch, 0.99);
	*i = (struct measure_interval){
		.t_ns = clock_ns(cfg->clock, now - l->begin),
		.ops = done - l->interval_ops,
		.percentiles_known = p50.known && p99.known,
		.p50_ns = (uint64_t)(p50.ns + 0.5),
		.p99_ns = (uint64_t)(p99.ns + 0.5),
		.max_ns = cfg->scratch->count > 0 ? cfg->scratch->max_ns : 0,
	};
	histogram_merge(cfg->latency, cfg->scratch);
	histogram_reset(cfg->scratch);
	l->interval_ops = done;
	l->interval_end = now + l->interval_ticks;
}

void measure_stop(struct loop *l)
{
	for (uint32_t i = 0; i < l->cfg->lanes_count; i++) {
		struct lane_state *r = &l->rings[i];

		/* one more, if the last one has no completion of its own */
		if (r->posted < r->limit)
			r->limit = r->posted + (r->unsignaled > 0);
	}
	l->post_max = l->posted;
	l->end = UINT64_MAX;
	l->hard_end = UINT64_MAX;
}

static bool at_end(const struct loop *l, uint64_t now)
{
	/* the open loop posts what was planned before its end, even if late */
	if (now >= l->end && l->cfg->period_ns <= 0 && measure_done(l) >= l->cfg->min_ops)
		return true;
	return now >= l->hard_end;
}

static bool asked_to_stop(const struct loop *l)
{
	return cli_signal != 0 ||
	       (l->cfg->stop != NULL && atomic_load_explicit(l->cfg->stop, memory_order_relaxed));
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void measure_time_look(struct loop *l, uint64_t now)
{
	if (now >= l->window_end)
		close_window(l, now);
	if (has_intervals(l) && now >= l->interval_end)
		close_interval(l, now);
	if (asked_to_stop(l)) {
		measure_stop(l);
		l->out->interrupted = true;
	} else if (at_end(l, now)) {
		measure_stop(l);
	}
	/* once its time is over, a measurement ends at the first completion at which nothing else
	 * is due */
	l->next_look = earlier(earlier(now + l->tick, l->end), earlier(l->hard_end, l->window_end));
	if (has_intervals(l))
		l->next_look = earlier(l->next_look, l->interval_end);
}

/* The rest is an interval too if it is not a mere remainder. */
void measure_time_finish(struct loop *l)
{
	measure_single_drain(l);
	if (l->cfg->scratch == NULL)
		return;
	if (has_intervals(l) && l->last + l->interval_ticks / 2 >= l->interval_end)
		close_interval(l, l->last);
	histogram_merge(l->cfg->latency, l->cfg->scratch);
	histogram_reset(l->cfg->scratch);
}
