/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_collect.c -- what the threads of a repeat measured, put together: their intervals are the
 * same spans of time, however many each has.
 */
#include "made_repeat.h"

#define SPAN 100000000ULL

static struct worker_figures figures[2];
static struct measure_interval intervals[2][4];
static struct histogram latency;

const struct worker_figures *__wrap_workers_figures(const struct workers *workers, uint32_t thread)
{
	return &figures[thread];
}

static void set(uint32_t thread, uint32_t used, const struct measure_interval *list)
{
	histogram_reset(&latency);
	figures[thread] = (struct worker_figures){
		.latency = &latency,
		.intervals = intervals[thread],
		.measured = {.ops = 1,
			     .intervals_used = used,
			     .interval_parts = 1,
			     .interval_ns = SPAN},
	};
	memcpy(intervals[thread], list, used * sizeof(*list));
}

static void collect(struct repeat *r, uint32_t threads)
{
	const struct message_begin begin = {.params = {.threads = threads}};

	*r = (struct repeat){.params = begin.params};
	assert_int_equal(repeat_collect(r, NULL, &begin), 0);
}

/* One stood still in the second span, and both have the third. */
TEST(spans_of_threads_are_added_by_their_time)
{
	static const struct measure_interval one[] = {{SPAN, 10, 640, true, 5, 6, 7},
						      {2 * SPAN, 0, 0, false, 0, 0, 0},
						      {3 * SPAN, 9, 576, true, 5, 6, 9}};
	static const struct measure_interval two[] = {{SPAN, 20, 1280, true, 5, 6, 8},
						      {2 * SPAN, 21, 1344, true, 5, 6, 8},
						      {3 * SPAN + 5, 22, 1408, true, 5, 6, 8}};
	struct repeat r;

	set(0, 3, one);
	set(1, 3, two);
	collect(&r, 2);
	EQUAL((r.intervals_count, 3), (r.intervals[0].ops, 30), (r.intervals[1].ops, 21),
	      (r.intervals[1].bytes, 1344), (r.intervals[1].max_ns, 8), (r.intervals[2].ops, 31),
	      (r.intervals[2].t_ns, 3 * SPAN + 5), (r.intervals[2].max_ns, 9),
	      (r.intervals[2].percentiles_known, false));
	repeat_clear(&r);
}

TEST(what_one_thread_did_alone_is_in_the_result)
{
	static const struct measure_interval one[] = {{SPAN / 4, 10, 640, true, 5, 6, 7}};
	static const struct measure_interval two[] = {{SPAN, 20, 1280, true, 5, 6, 8},
						      {2 * SPAN, 21, 1344, true, 5, 6, 8}};
	struct repeat r;

	set(0, 1, one);
	set(1, 2, two);
	collect(&r, 2);
	EQUAL((r.intervals_count, 2), (r.intervals[0].ops, 30), (r.intervals[0].t_ns, SPAN),
	      (r.intervals[1].ops, 21));
	repeat_clear(&r);
}

TEST(less_than_half_a_span_is_no_interval)
{
	static const struct measure_interval list[] = {
		{SPAN, 10, 640, true, 5, 6, 7}, {SPAN + SPAN / 2 - 1, 4, 256, true, 5, 6, 7}};
	struct repeat r;

	set(0, 2, list);
	collect(&r, 1);
	EQUAL((r.intervals_count, 1), (r.intervals[0].percentiles_known, true));
	repeat_clear(&r);
	figures[0].intervals[1].t_ns++;
	collect(&r, 1);
	assert_int_equal(r.intervals_count, 2);
	repeat_clear(&r);
}
