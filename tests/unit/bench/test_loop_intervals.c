/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_loop_intervals.c -- the intervals of a measurement, with a time and
 * completions of our own: they cover all of it, however many there are, and are shown.
 */
#include "fake_qps.h"

#define ROOM	    6
#define INTERVAL_NS 100000000ULL /* 10,000 operations of 10 us */

static struct measure_interval intervals[ROOM];
static struct histogram scratch, response_scratch;
static struct live live;

static struct measure_cfg setup(uint64_t duration_ns)
{
	struct measure_cfg own = fake_setup(fake_ten_us, 1, duration_ns);

	memset(intervals, 0, sizeof(intervals));
	live_reset(&live);
	own.scratch = &scratch;
	own.intervals = intervals;
	own.intervals_max = ROOM;
	own.interval_ns = INTERVAL_NS;
	return own;
}

static uint64_t ops_of(uint32_t used)
{
	uint64_t ops = 0;

	for (uint32_t i = 0; i < used; i++)
		ops += intervals[i].ops;
	return ops;
}

/* The last one is half of one. */
TEST(as_many_as_fit_are_kept_as_they_are)
{
	cfg = setup(ROOM * INTERVAL_NS - INTERVAL_NS / 2);
	EQUAL((fake_run(&cfg, &m), 0), (m.intervals_used, ROOM), (m.interval_parts, 1),
	      (ops_of(ROOM), m.ops), (intervals[ROOM - 1].t_ns, m.elapsed_ns),
	      (fake_latency.count, m.ops));
	for (uint32_t i = 0; i < ROOM; i++) {
		EQUAL((intervals[i].percentiles_known, true), (intervals[i].p50_ns, 10000),
		      (intervals[i].p99_ns, 10000), (intervals[i].max_ns, 10000));
		assert_in_range(intervals[i].ops, i < ROOM - 1 ? 9999 : 4999,
				i < ROOM - 1 ? 10002 : 5002);
	}
}

/* 7 are pairs: 1+2, 3+4, 5+6, and the 7th alone; 13 are fours. */
TEST(more_than_fit_become_longer)
{
	static const struct {
		uint64_t count;
		uint32_t used, parts;
	} cases[] = {{7, 4, 2}, {12, 6, 2}, {13, 4, 4}, {25, 4, 8}, {100, 4, 32}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cfg = setup(cases[i].count * INTERVAL_NS);
		EQUAL((fake_run(&cfg, &m), 0), (m.intervals_used, cases[i].used),
		      (m.interval_parts, cases[i].parts), (ops_of(m.intervals_used), m.ops),
		      (fake_latency.count, m.ops), (intervals[0].percentiles_known, false));
		assert_in_range(intervals[0].t_ns, cases[i].parts * INTERVAL_NS,
				cases[i].parts * INTERVAL_NS * 101 / 100);
		assert_in_range(intervals[m.intervals_used - 1].t_ns, cases[i].count * INTERVAL_NS,
				cases[i].count * INTERVAL_NS * 101 / 100);
	}
}

LATENCY(stall, op == 4999 ? 301000000 : 10000)

/* The 5,000th begins at 50 ms and ends at 351: nothing completes in the second and the third. */
TEST(nothing_is_in_the_intervals_of_a_stall)
{
	cfg = setup(5 * INTERVAL_NS);
	fake.latency_ns = stall;
	EQUAL((fake_run(&cfg, &m), 0), (m.intervals_used, 5));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(intervals[i].t_ns, (i + 1) * INTERVAL_NS);
	EQUAL((intervals[0].ops, 4999), (intervals[1].ops, 0),
	      (intervals[1].percentiles_known, false), (intervals[2].ops, 0));
	assert_in_range(intervals[3].ops, 4899, 4901);
	EQUAL((intervals[3].max_ns, 301000000), (ops_of(5), m.ops));
}

TEST(thinning_makes_one_of_two)
{
	struct measure_interval some[] = {
		{10, 1, 64, true, 5, 6, 7}, {20, 2, 64, true, 5, 6, 9}, {30, 4, 64, true, 5, 6, 8}};
	uint32_t used = 3;

	measure_intervals_thin(some, &used);
	EQUAL((used, 2), (some[0].t_ns, 20), (some[0].ops, 3), (some[0].percentiles_known, false),
	      (some[0].max_ns, 9), (some[1].t_ns, 30), (some[1].percentiles_known, true));
}

TEST(what_is_shown_is_in_the_result_as_well)
{
	static struct live_snapshot all;

	cfg = setup(3 * INTERVAL_NS);
	cfg.live = &live;
	assert_int_equal(fake_run(&cfg, &m), 0);
	live_clear(&all);
	EQUAL((live_take(&live, &all), true), (all.ops, intervals[0].ops),
	      (all.latency.count, all.ops), (live.kept.ops, intervals[1].ops + intervals[2].ops),
	      (fake_latency.count, m.ops));
}

/* An open loop shows the responses: they have the wait for their turn as well. */
TEST(an_open_loop_shows_responses)
{
	cfg = setup(3 * INTERVAL_NS);
	cfg.limit_ns = 2 * cfg.duration_ns;
	cfg.period_ns = 20000;
	cfg.response = &fake_response;
	cfg.response_scratch = &response_scratch;
	cfg.live = &live;
	fake.step_ns = fake.idle_ns = 500;
	fake_run_well(15000);
	EQUAL((fake_response.count, 15000),
	      (live.shown.latency.count + live.kept.latency.count, 15000));
	assert_true(live.shown.latency.min_ns >= fake_latency.min_ns);
}

/* Until it is stopped; a year of steps of 10 us would take too long here. */
TEST(without_an_end_it_goes_on_until_it_is_stopped)
{
	cfg = setup(MEASURE_ENDLESS_NS);
	fake.stop_at = 300000;
	EQUAL((fake_run(&cfg, &m), 0), (m.interrupted, true));
	assert_in_range(m.ops, 300000, 300200);
	assert_int_equal(ops_of(m.intervals_used) <= m.ops, true);
	assert_true(m.intervals_used <= ROOM);
}
