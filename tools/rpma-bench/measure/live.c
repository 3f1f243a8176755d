/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * live.c -- one snapshot between a measuring thread and a reader; the flag
 * tells which of them owns it.
 */
#include "loop.h"

void live_clear(struct live_snapshot *s)
{
	histogram_reset(&s->latency);
	s->ops = s->bytes = s->late_ops = s->span_ns = s->end_ns = 0;
	s->ops_per_s = s->bytes_per_s = 0;
}

void live_reset(struct live *live)
{
	live_clear(&live->kept);
	live_clear(&live->shown);
	atomic_store(&live->full, 0);
}

/* One interval after the other, of the same thread. */
static void append(struct live_snapshot *to, const struct live_snapshot *interval,
		   const struct histogram *latency)
{
	histogram_merge(&to->latency, latency);
	to->ops += interval->ops;
	to->bytes += interval->bytes;
	to->late_ops += interval->late_ops;
	to->span_ns += interval->span_ns;
	to->end_ns = interval->end_ns;
}

void live_add(struct live *live, const struct live_snapshot *interval,
	      const struct histogram *latency)
{
	if (live_ready(live)) {
		append(&live->kept, interval, latency);
		return;
	}
	live_clear(&live->shown);
	if (live->kept.span_ns > 0) {
		append(&live->shown, &live->kept, &live->kept.latency);
		live_clear(&live->kept);
	}
	append(&live->shown, interval, latency);
	atomic_store_explicit(&live->full, 1, memory_order_release);
}

bool live_ready(const struct live *live)
{
	return atomic_load_explicit(&live->full, memory_order_acquire) != 0;
}

bool live_take(struct live *live, struct live_snapshot *all)
{
	const struct live_snapshot *s = &live->shown;

	if (!live_ready(live))
		return false;
	histogram_merge(&all->latency, &s->latency);
	all->ops += s->ops;
	all->bytes += s->bytes;
	all->late_ops += s->late_ops;
	all->span_ns = s->span_ns > all->span_ns ? s->span_ns : all->span_ns;
	all->end_ns = s->end_ns > all->end_ns ? s->end_ns : all->end_ns;
	if (s->span_ns > 0) {
		all->ops_per_s += (double)s->ops * 1e9 / (double)s->span_ns;
		all->bytes_per_s += (double)s->bytes * 1e9 / (double)s->span_ns;
	}
	atomic_store_explicit(&live->full, 0, memory_order_release);
	return true;
}
