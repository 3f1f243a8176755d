/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_loop_open.c -- the open measuring loop with a time and completions
 * of our own: the plan never moves, whatever the queue pairs do.
 */
#include <math.h>

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "fake_qps.h"

#define PERIOD_NS 100000
#define STEP_NS	  500 /* how exact the fake's time is while it waits for a plan */

/* 100 ms once, else 10 us. */
LATENCY(stall, op == 3000 ? 100000000 : 10000)
LATENCY(longer_than_the_period, 4 * PERIOD_NS)
LATENCY(never, op < 100 ? 1000 : FAKE_NEVER)

/* 10,000 per second. */
static struct measure_cfg setup(uint64_t (*latency_ns)(uint32_t, uint64_t), uint32_t depth,
				uint64_t duration_ns)
{
	struct measure_cfg own = fake_setup(latency_ns, depth, duration_ns);

	own.limit_ns = 2 * duration_ns;
	own.period_ns = PERIOD_NS;
	own.response = &fake_response;
	fake.step_ns = fake.idle_ns = STEP_NS;
	return own;
}

static uint64_t beyond(const struct histogram *h, uint64_t ns)
{
	uint64_t count = 0;

	for (size_t i = histogram_index(ns) + 1; i < HISTOGRAM_BUCKETS; i++)
		count += h->buckets[i];
	return count;
}

TEST(operations_begin_as_planned)
{
	cfg = setup(fake_ten_us, 4, 1000000000);
	fake_run_well(10000);
	/* until the last one is done, which is due a period before the end */
	assert_in_range(m.elapsed_ns, 999910000, 999910000 + 3 * STEP_NS);
	assert_int_equal(m.late_ops, 0);
	assert_in_range(m.max_lag_ns, 0, 2 * STEP_NS);
	assert_int_equal(fake_latency.count, 10000);
	assert_in_range(fake_latency.max_ns, 10000, 10000 + 2 * STEP_NS);
	assert_in_range(fake_response.max_ns, 10000, 10000 + 3 * STEP_NS);
}

/* An operation that is due at the very end is not planned. */
TEST(as_many_are_planned_as_the_rate_says)
{
	static const double rates[] = {1000, 3000, 7777, 9999, 10000};
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		cfg = setup(fake_ten_us, 4, 1000000000);
		cfg.period_ns = 1e9 / rates[i];
		assert_int_equal(fake_run(&cfg, &m), 0);
		assert_true((double)m.ops == rates[i]);
	}
}

/*
 * One at a time, 10 us each, one of them 100 ms; the plan goes on, one each
 * 100 us. The j-th after the stall was planned j x 100 us after the stalled
 * one and begins after the stall and the j - 1 before it: it lags by
 * 100 ms - j x 100 us + (j - 1) x 10 us, which is more than a period until
 * j = 1109, and is caught up with at j = 1111.
 */
TEST(a_stall_makes_all_who_had_to_wait_late)
{
	cfg = setup(stall, 1, 1000000000);
	fake_run_well(10000);
	assert_int_equal(m.late_ops, 1109);
	assert_in_range(m.max_lag_ns, 99900000, 99900000 + 3 * STEP_NS);
	/* response from the plan: the stalled one waits longest, as long as it took */
	assert_in_range(fake_response.max_ns, 100000000, 100000000 + 3 * STEP_NS);
	/* the lag and 10 us are more than 1 ms: until j = 1100; and the stalled one */
	assert_in_range(beyond(&fake_response, 1000000), 1100 - 10, 1100 + 1);
	/* while service, from the post, shows one slow sample */
	assert_int_equal(beyond(&fake_latency, 20000), 1);
}

/*
 * 31 more are posted as planned, then the queue is full until the stall ends.
 * From then on 32 begin each 10 us, the j-th 100 ms + (j - 32) / 32 x 10 us
 * after the stalled one: more than a period after its plan until j = 1001.
 */
TEST(a_deep_queue_lets_as_many_begin_in_time)
{
	cfg = setup(stall, 32, 1000000000);
	fake_run_well(10000);
	/* the next one lags by a period, and by a step of the fake's time */
	assert_in_range(m.late_ops, 1001 - 31, 1002 - 31);
	assert_in_range(fake_response.max_ns, 100000000, 100000000 + 3 * STEP_NS);
}

TEST(what_was_planned_is_posted_after_the_end)
{
	/* the stall is in the last 100 ms of the plan */
	cfg = setup(stall, 1, 301000000);
	fake_run_well(3010);
	EQUAL((m.unbegun_ops, 0), (m.late_ops, 9));
	assert_in_range(m.elapsed_ns, 400090000, 400090000 + 3 * STEP_NS);
}

TEST(more_than_can_be_done_is_cut_off)
{
	/* a quarter of the rate: 1000 planned in 100 ms, 500 done within 200 ms */
	cfg = setup(longer_than_the_period, 1, 100000000);
	assert_int_equal(fake_run(&cfg, &m), 0);
	assert_in_range(m.ops, 499, 503);
	assert_int_equal(m.unbegun_ops, 1000 - m.ops);
	assert_in_range(m.elapsed_ns, 199000000, 201000000);
	assert_int_equal(fake.finished, fake.posted);
}

static double response_at(double p)
{
	struct percentile found = histogram_percentile(&fake_response, p);

	return found.known ? found.ns : NAN;
}

static bool near(double ns, double expected)
{
	return fabs(ns - expected) < expected / 128 + 4 * STEP_NS;
}

/*
 * 20,000 are due within 50 ms, one each 2.5 us, and each takes 10 us, one at a time: the response
 * of operation i is 10 us + i x 7.5 us, so its median is 75 ms and its 99th percentile 148.5 ms.
 */
static struct measure_cfg four_times_the_rate(uint64_t limit_ns)
{
	struct measure_cfg own = setup(fake_ten_us, 1, 50000000);

	own.period_ns = 2500;
	own.limit_ns = limit_ns;
	fake.step_ns = fake.idle_ns = 100;
	return own;
}

TEST(a_plan_that_is_done_whole_has_all_its_quantiles)
{
	cfg = four_times_the_rate(250000000);
	fake_run_well(20000);
	EQUAL((m.unbegun_ops, 0), (near(response_at(0.5), 75e6), true),
	      (near(response_at(0.99), 148.5e6), true),
	      (near(histogram_mean_ns(&fake_response), 75e6), true));
}

/* At 100 ms half of them have begun: beyond the median nothing is known. */
TEST(what_was_never_begun_lies_beyond_what_was_measured)
{
	cfg = four_times_the_rate(101000000);
	assert_int_equal(fake_run(&cfg, &m), 0);
	assert_in_range(m.ops, 10000, 10200);
	EQUAL((m.unbegun_ops, 20000 - m.ops), (near(response_at(0.5), 75e6), true));
	assert_true(isnan(response_at(0.9)));
	assert_true(isnan(response_at(0.99)));
	assert_int_equal(fake_response.unbegun, m.unbegun_ops);
}

TEST(qps_take_turns)
{
	cfg = setup(longer_than_the_period, 4, 100000000);
	cfg.qps_count = 2;
	fake_run_well(1000);
	EQUAL((m.late_ops, 0), (fake.qps[0].posted, 500), (fake.qps[1].posted, 500),
	      (cfg.qps[0].touched, 500));
}

TEST(the_plan_may_begin_later)
{
	cfg = setup(fake_ten_us, 1, 10000000);
	cfg.first_ns = PERIOD_NS / 2.0;
	cfg.max_ops = 1;
	fake_run_well(1);
	assert_in_range(m.max_lag_ns, 0, 2 * STEP_NS);
	assert_in_range(fake.now_ns, fake.begin_ns + 60000, fake.begin_ns + 60000 + 4 * STEP_NS);
}

TEST(nothing_is_planned_after_the_end)
{
	cfg = setup(fake_ten_us, 1, PERIOD_NS / 2);
	cfg.first_ns = PERIOD_NS;
	fake_run_well(0);
}

TEST(it_ends_after_so_many_operations)
{
	cfg = setup(fake_ten_us, 4, UINT64_MAX);
	cfg.max_ops = 101;
	cfg.qps_count = 2;
	cfg.limit_ns = UINT64_MAX;
	fake_run_well(101);
	assert_int_equal(fake.qps[0].posted, 51);
}

TEST(a_warm_up_waits_for_its_operations)
{
	cfg = setup(fake_ten_us, 1, 10000000);
	cfg.min_ops = 150;
	fake_run_well(150);
}

TEST(events_keep_the_plan)
{
	cfg = setup(stall, 1, 1000000000);
	cfg.completion = BENCH_EVENT;
	cfg.period_ns = 10 * PERIOD_NS;
	fake_run_well(1000);
	assert_int_equal(m.late_ops, 0);
	assert_in_range(m.max_lag_ns, 0, 2 * STEP_NS);
	assert_in_range(fake_latency.max_ns, 10000, 10000 + 2 * STEP_NS);
	assert_true(fake.waits > 1000);
}

TEST(answers_are_timed_from_the_plan_too)
{
	cfg = setup(fake_ten_us, 2, 100000000);
	cfg.operation = &fake_answered;
	fake.request_ns = 1000;
	fake_run_well(1000);
	EQUAL((fake_response.count, 1000), (m.late_ops, 0));
}

TEST(a_signal_ends_it_in_good_order)
{
	cfg = setup(fake_ten_us, 4, 1000000000);
	fake.signal_at = 42;
	EQUAL((fake_run(&cfg, &m), 0), (m.interrupted, true), (m.ops, fake.posted));
	/* within a millisecond: ten operations */
	assert_in_range(m.ops, 43, 54);
}

/* At one operation a minute nothing completes for long, and nothing is wrong. */
TEST(a_slow_plan_is_no_silent_device)
{
	cfg = setup(fake_ten_us, 1, 90000000000);
	cfg.period_ns = 60e9;
	fake.idle_ns = 100000;
	fake_run_well(2);
}

TEST(a_silent_device_is_given_up)
{
	cfg = setup(never, 4, 100000000000);
	fake.step_ns = 10000;
	fake_run_fails("no completion within 10 s");
}

/*
 * One server, 10 us each, arrivals at random: the mean wait is u S / (2 (1 - u)), with u the
 * part of the time that it is busy (Pollaczek and Khinchine, of fixed service). Here no
 * machine disturbs it: only the number of arrivals, and the step of the time, do.
 */
TEST(waits_of_poisson_arrivals_are_those_of_an_m_d_1_queue)
{
	static const double busy[] = {0.3, 0.5, 0.7};

	for (size_t i = 0; i < sizeof(busy) / sizeof(busy[0]); i++) {
		double wait_ns, wanted_ns = busy[i] * 10000 / (2 * (1 - busy[i]));

		cfg = setup(fake_ten_us, 1, 1000000000);
		fake.step_ns = 10000; /* a full queue waits for its completion alone */
		fake.idle_ns = 100;
		cfg.arrivals.kind = BENCH_POISSON;
		cfg.period_ns = 10000 / busy[i];
		cfg.seed = 1 + i;
		EQUAL((fake_run(&cfg, &m), 0), (m.unbegun_ops, 0));
		wait_ns = histogram_mean_ns(&fake_response) - histogram_mean_ns(&fake_latency);
		if (fabs(wait_ns / wanted_ns - 1) > 0.1)
			fail_msg("busy %g: %g ns, expected %g", busy[i], wait_ns, wanted_ns);
	}
}

/* The i-th of a burst waits for those before it: 0, 10, ... 90 us. */
TEST(those_of_a_burst_wait_for_each_other)
{
	double wait_ns;

	cfg = setup(fake_ten_us, 1, 1000000000);
	cfg.arrivals = (struct variant){BENCH_BURST, 10};
	fake_run_well(10000);
	wait_ns = histogram_mean_ns(&fake_response) - histogram_mean_ns(&fake_latency);
	assert_in_range(wait_ns, 45000, 45000 + 10 * STEP_NS);
}
