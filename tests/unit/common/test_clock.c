/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clock.c -- calibration and drift, with a counter and a time of our own.
 *
 * The fake time moves 1 us per reading; the counter follows it at a rate that
 * may change at some moment.
 */
#include <math.h>

#include "common/host/clock.h"
#include "tests/lib/test.h"

struct fake {
	uint64_t raw_ns;
	double hz;
	uint64_t change_ns; /* from here on the rate is hz_after */
	double hz_after;
	const char *distrust;
};

static uint64_t fake_raw_ns(void *arg)
{
	struct fake *fake = arg;

	return fake->raw_ns += 1000;
}

static uint64_t fake_ticks(void *arg)
{
	const struct fake *fake = arg;
	uint64_t before = fake->raw_ns, after = 0;

	if (fake->raw_ns > fake->change_ns) {
		before = fake->change_ns;
		after = fake->raw_ns - fake->change_ns;
	}
	return (uint64_t)llround((double)before / 1e9 * fake->hz +
				 (double)after / 1e9 * fake->hz_after);
}

static const char *fake_distrust(void *arg)
{
	return ((struct fake *)arg)->distrust;
}

static struct clock_sources sources_of(struct fake *fake)
{
	return (struct clock_sources){fake_ticks, fake_raw_ns, fake_distrust, fake};
}

TEST(the_rate_is_measured)
{
	static const double rates[] = {1e6 * 62.5, 1e9, 2.4e9, 3.593e9};

	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct fake fake = {1000000, rates[i], UINT64_MAX, 0, NULL};
		struct clock_sources sources = sources_of(&fake);
		struct clock clock;

		clock_start(&clock, &sources);
		assert_true(clock.counter);
		/* 1 us of uncertainty at each end of 200 ms */
		assert_true(fabs(clock.hz / rates[i] - 1) < 1e-5);
		assert_string_equal(clock.fallback_reason, "");
	}
}

TEST(ticks_become_nanoseconds)
{
	struct fake fake = {1000000, 2.5e9, UINT64_MAX, 0, NULL};
	struct clock_sources sources = sources_of(&fake);
	struct clock clock;

	clock_start(&clock, &sources);
	clock.ns_per_tick_32 = (uint64_t)(0.4 * 4294967296.0 + 0.5);
	clock.hz = 2.5e9;
	assert_int_equal(clock_ns(&clock, 0), 0);
	assert_in_range(clock_ns(&clock, 2500), 999, 1000);
	assert_in_range(clock_ticks(&clock, 1000), 2500, 2501);
	for (uint64_t ns = 1; ns < 1000000000; ns = ns * 7 + 1)
		assert_true(clock_ns(&clock, clock_ticks(&clock, ns)) >= ns &&
			    clock_ns(&clock, clock_ticks(&clock, ns) - 1) < ns);
	/* a week: beyond 2^53 ticks, off by no more than the fixed point's 2^-32 */
	assert_in_range(clock_ns(&clock, 2500000000ULL * 604800), 604800ULL * 1000000000 - 300000,
			604800ULL * 1000000000 + 300000);
}

/* Drift is judged at 100 ppm. */
TEST(drift_during_the_run_is_judged)
{
	static const struct {
		double ppm;
		bool good;
	} cases[] = {{0, true}, {50, true}, {-50, true}, {200, false}, {-200, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake fake = {1000000, 2.4e9, UINT64_MAX, 0, NULL};
		struct clock_sources sources = sources_of(&fake);
		struct clock clock;

		fake.hz_after = fake.hz * (1 + cases[i].ppm / 1e6);
		clock_start(&clock, &sources);
		fake.change_ns = fake.raw_ns;
		fake.raw_ns += 5000000000ULL;
		assert_int_equal(clock_finish(&clock), cases[i].good);
		assert_true(fabs(clock.drift_ppm - cases[i].ppm) < 10);
	}
}

TEST(an_unsteady_counter_is_not_used)
{
	struct fake fake = {1000000, 2.4e9, 1000000 + CLOCK_CALIBRATION_NS / 2, 2.4e9 * 1.0002,
			    NULL};
	struct clock_sources sources = sources_of(&fake);
	struct clock clock;

	clock_start(&clock, &sources);
	EQUAL((clock.counter, false), (clock.fallback_reason, HAS("ppm")),
	      (clock_source_name(&clock), "clock_gettime"));
}

TEST(a_counter_that_stands_still_is_not_used)
{
	struct fake fake = {1000000, 0, UINT64_MAX, 0, NULL};
	struct clock_sources sources = sources_of(&fake);
	struct clock clock;

	clock_start(&clock, &sources);
	assert_false(clock.counter);
}

TEST(the_fallback_has_its_reason_and_works)
{
	struct fake fake = {1000000, 2.4e9, UINT64_MAX, 0, "it is a test"};
	struct clock_sources sources = sources_of(&fake);
	struct clock clock;
	uint64_t first;

	clock_start(&clock, &sources);
	EQUAL((clock.counter, false), (clock.fallback_reason, "it is a test"));
	first = clock_now(&clock);
	assert_true(clock_now(&clock) >= first);
	EQUAL((clock_ns(&clock, 12345), 12345), (clock_ticks(&clock, 12345), 12345),
	      (clock_finish(&clock), true));
}

TEST(this_machine_has_a_clock)
{
	struct clock clock;
	uint64_t ticks, raw_ns, clock_took, raw_took;

	clock_start(&clock, NULL);
	assert_true(clock.overhead_ns > 0);
	ticks = clock_now(&clock);
	raw_ns = clock_raw_ns();
	while (clock_raw_ns() - raw_ns < 20000000)
		;
	clock_took = clock_ns(&clock, clock_now(&clock) - ticks);
	raw_took = clock_raw_ns() - raw_ns;
	/* the stamps are outside of one time and inside of the other */
	assert_true(clock_took >= 20000000 - 20000);
	assert_true(clock_took <= raw_took * 2 + 1000000000);
}
