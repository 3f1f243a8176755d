/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_time.c -- the end of a measurement, its windows and its intervals:
 * all that the loops do now and then, and never within a sample.
 */
#include "loop_core.h"

#include <sys/param.h>

#include "common/base/cli.h"

/* A stop is seen within this time. */
#define TICK_NS 1000000

static uint64_t after(const struct loop *l, uint64_t ns)
{
	return ns < MEASURE_ENDLESS_NS ? l->begin + clock_ticks(l->cfg->clock, ns) : UINT64_MAX;
}

uint64_t measure_done(const struct loop *l)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < l->cfg->qps_count; i++)
		done += l->inflight[i].done;
	return done;
}

uint64_t measure_bytes(const struct loop *l)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < l->cfg->qps_count; i++) {
		const struct inflight *r = &l->inflight[i];

		bytes += r->qp->sizes != NULL ? r->qp->bytes : r->done * r->qp->size_bytes;
	}
	return bytes;
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
	l->interval_begin = l->begin;
	l->interval_end = l->begin + l->interval_ticks;
	/* an open loop is late after the end of its plan */
	l->intervals_end = cfg->period_ns > 0 ? l->hard_end : l->end;
	l->out->interval_parts = 1;
	l->out->interval_ns = cfg->interval_ns;
	l->next_check = l->begin;
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
	return l->cfg->scratch != NULL && l->cfg->intervals_max > 0;
}

static void append(struct measure_interval *to, const struct measure_interval *next)
{
	to->t_ns = next->t_ns;
	to->ops += next->ops;
	to->bytes += next->bytes;
	to->percentiles_known = false;
	to->max_ns = next->max_ns > to->max_ns ? next->max_ns : to->max_ns;
}

void measure_intervals_thin(struct measure_interval *intervals, uint32_t *used)
{
	uint32_t pairs = (*used + 1) / 2;

	for (uint32_t i = 0; i < pairs; i++) {
		intervals[i] = intervals[2 * i];
		if (2 * i + 1 < *used)
			append(&intervals[i], &intervals[2 * i + 1]);
	}
	*used = pairs;
}

/* There is room for another one: else the ones before it become half as many. */
static void store(struct loop *l, const struct measure_interval *interval)
{
	struct measured *m = l->out;
	struct measure_interval *all = l->cfg->intervals;

	if (l->interval_part == 0 && m->intervals_used == l->cfg->intervals_max) {
		measure_intervals_thin(all, &m->intervals_used);
		m->interval_parts *= 2;
	}
	if (l->interval_part == 0)
		all[m->intervals_used++] = *interval;
	else
		append(&all[m->intervals_used - 1], interval);
	l->interval_part = l->interval_part + 1 == m->interval_parts ? 0 : l->interval_part + 1;
}

static void show(struct loop *l, const struct measure_interval *interval, uint64_t end)
{
	const struct measure_cfg *cfg = l->cfg;
	const struct live_snapshot one = {
		.ops = interval->ops,
		.bytes = interval->bytes,
		.late_ops = l->out->late_ops - l->interval_late,
		.span_ns = clock_ns(cfg->clock, end - l->interval_begin),
		.end_ns = interval->t_ns,
	};

	/* the rate of a mere remainder is noise */
	if (cfg->live != NULL && end - l->interval_begin >= l->interval_ticks / 2)
		live_add(cfg->live, &one,
			 cfg->response_scratch != NULL ? cfg->response_scratch : cfg->scratch);
}

/* The samples of the interval join those of the whole. */
static void take_samples(const struct measure_cfg *cfg)
{
	histogram_merge(cfg->latency, cfg->scratch);
	histogram_reset(cfg->scratch);
	if (cfg->response_scratch == NULL)
		return;
	histogram_merge(cfg->response, cfg->response_scratch);
	histogram_reset(cfg->response_scratch);
}

/* All that has completed by now, and is in no interval yet. */
static void close_interval(struct loop *l, uint64_t end)
{
	const struct measure_cfg *cfg = l->cfg;
	uint64_t done = measure_done(l), bytes = measure_bytes(l);
	struct measure_interval interval;
	struct percentile p50, p99;

	measure_single_drain(l);
	p50 = histogram_percentile(cfg->scratch, 0.5);
	p99 = histogram_percentile(cfg->scratch, 0.99);
	interval = (struct measure_interval){
		.t_ns = clock_ns(cfg->clock, end - l->begin),
		.ops = done - l->interval_ops,
		.bytes = bytes - l->interval_bytes,
		.percentiles_known = p50.known && p99.known,
		.p50_ns = (uint64_t)(p50.ns + 0.5),
		.p99_ns = (uint64_t)(p99.ns + 0.5),
		.max_ns = cfg->scratch->count > 0 ? cfg->scratch->max_ns : 0,
	};
	store(l, &interval);
	show(l, &interval, end);
	take_samples(cfg);
	l->interval_ops = done;
	l->interval_bytes = bytes;
	l->interval_late = l->out->late_ops;
	l->interval_begin = end;
	l->interval_end = end + l->interval_ticks;
}

/* In a stall, nothing is in those that passed meanwhile. */
void measure_time_intervals(struct loop *l, uint64_t now)
{
	while (has_intervals(l) && now >= l->interval_end && l->interval_end < l->intervals_end)
		close_interval(l, l->interval_end);
}

void measure_stop(struct loop *l)
{
	for (uint32_t i = 0; i < l->cfg->qps_count; i++) {
		struct inflight *r = &l->inflight[i];

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

void measure_time_check(struct loop *l, uint64_t now)
{
	if (now >= l->window_end)
		close_window(l, now);
	measure_time_intervals(l, now);
	if (asked_to_stop(l)) {
		measure_stop(l);
		l->out->interrupted = true;
	} else if (at_end(l, now)) {
		measure_stop(l);
	}
	/* once its time is over, a measurement ends at the first completion at which nothing else
	 * is due */
	l->next_check = MIN(MIN(now + l->tick, l->end), MIN(l->hard_end, l->window_end));
	if (has_intervals(l) && l->interval_end < l->intervals_end)
		l->next_check = MIN(l->next_check, l->interval_end);
}

int measure_take_at_check(struct loop *l, struct inflight *r, const struct ibv_wc *wc, int got)
{
	measure_time_intervals(l, l->last);
	for (int i = 0; i < got; i++) {
		int ret = measure_take(l, r, &wc[i], false);

		if (ret != 0)
			return ret;
	}
	measure_time_check(l, l->last);
	return got;
}

/* The rest is an interval too. */
void measure_time_finish(struct loop *l)
{
	measure_single_drain(l);
	if (l->cfg->scratch == NULL)
		return;
	if (has_intervals(l) && l->last > l->interval_begin)
		close_interval(l, l->last);
	take_samples(l->cfg);
}
