/* SPDX-License-Identifier: BSD-3-Clause */
/* test_live.c -- intervals that a thread shows, and what a reader makes of them. */
#include "tools/rpma-bench/measure/loop.h"

#include "tests/lib/test.h"

static struct live live, other;
static struct live_snapshot all;
static struct histogram samples;

static void add(struct live *to, uint64_t ops, uint64_t span_ns, uint64_t end_ns, uint64_t latency)
{
	const struct live_snapshot one = {
		.ops = ops, .bytes = 64 * ops, .late_ops = 1, .span_ns = span_ns, .end_ns = end_ns};

	histogram_reset(&samples);
	histogram_add(&samples, latency, ops);
	live_add(to, &one, &samples);
}

static int reset(void **state)
{
	live_reset(&live);
	live_reset(&other);
	live_clear(&all);
	return 0;
}

TEST(an_interval_is_taken_once, reset, NULL)
{
	assert_false(live_take(&live, &all));
	add(&live, 1000, 500000000, 500000000, 10);
	EQUAL((live_ready(&live), true), (live_take(&live, &all), true), (live_ready(&live), false),
	      (live_take(&live, &all), false), (all.ops, 1000), (all.bytes, 64000));
	assert_true(all.ops_per_s == 2000);
	assert_true(all.bytes_per_s == 128000);
	EQUAL((all.end_ns, 500000000), (all.latency.count, 1000), (all.latency.max_ns, 10));
}

/* The reader was late: nothing is lost, and the span tells of it. */
TEST(what_was_not_taken_in_time_comes_with_the_next_one, reset, NULL)
{
	add(&live, 100, 1000000000, 1000000000, 10);
	add(&live, 200, 1000000000, 2000000000, 20);
	add(&live, 300, 1000000000, 3000000000, 30);
	EQUAL((live_take(&live, &all), true), (all.ops, 100));
	live_clear(&all);
	assert_false(live_take(&live, &all));
	add(&live, 400, 1000000000, 4000000000, 5);
	EQUAL((live_take(&live, &all), true), (all.ops, 900), (all.late_ops, 3),
	      (all.span_ns, 3000000000), (all.end_ns, 4000000000));
	assert_true(all.ops_per_s == 300);
	EQUAL((all.latency.count, 900), (all.latency.max_ns, 30));
	live_clear(&all);
	add(&live, 1, 1000000000, 5000000000, 7);
	EQUAL((live_take(&live, &all), true), (all.ops, 1));
}

TEST(rates_of_threads_add_up, reset, NULL)
{
	add(&live, 1000, 1000000000, 1000000000, 10);
	add(&other, 1000, 2000000000, 2000000000, 40);
	EQUAL((live_take(&live, &all), true), (live_take(&other, &all), true));
	assert_true(all.ops_per_s == 1500);
	EQUAL((all.ops, 2000), (all.end_ns, 2000000000), (all.latency.count, 2000),
	      (all.latency.max_ns, 40));
}
