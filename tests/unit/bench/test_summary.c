/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_summary.c -- statistics over repeats, against tables and arithmetic.
 */
#include <math.h>

#include "tests/lib/test.h"
#include "tools/rpma-bench/result/summary.h"

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

/* Quantiles as any table of Student's t has them. */
static void t_is_that_of_the_tables(void **state)
{
	assert_true(near(summary_t975(1), 12.706, 1e-4));
	assert_true(near(summary_t975(4), 2.776, 1e-3));
	assert_true(near(summary_t975(9), 2.262, 1e-3));
	assert_true(near(summary_t975(30), 2.042, 1e-3));
	assert_true(near(summary_t975(40), 2.021, 1e-3));
	assert_true(near(summary_t975(60), 2.000, 1e-3));
	assert_true(near(summary_t975(120), 1.980, 1e-3));
	assert_true(near(summary_t975(999), 1.962, 1e-3));
}

/* 10, 12, 14, 16, 18: mean 14, deviation sqrt(10), half width 2.776 * sqrt(2) */
static void the_interval_is_students(void **state)
{
	static const double values[] = {10, 12, 14, 16, 18};
	struct summary_interval i = summary_mean(values, 5);

	assert_true(i.known);
	assert_true(near(i.mean, 14, 1e-12));
	assert_true(near(i.high - i.mean, 2.77645 * sqrt(2), 1e-9));
	assert_true(near(i.mean - i.low, 2.77645 * sqrt(2), 1e-9));
	assert_true(near(i.cv, sqrt(10) / 14, 1e-12));
}

static void one_value_has_no_interval(void **state)
{
	static const double value = 5;

	assert_false(summary_mean(&value, 1).known);
	assert_true(near(summary_mean(&value, 1).mean, 5, 1e-12));
	assert_false(summary_mean(&value, 0).known);
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(1 - test_uniform(seed))) * cos(2 * M_PI * test_uniform(seed));
}

static void intervals_cover_the_true_mean(void **state)
{
	uint64_t seed = 5;
	int covered = 0;

	for (int run = 0; run < 2000; run++) {
		struct summary_interval interval;
		double values[5];

		for (int i = 0; i < 5; i++)
			values[i] = 100 + 3 * normal(&seed);
		interval = summary_mean(values, 5);
		covered += interval.low <= 100 && 100 <= interval.high;
	}
	/* 95 % of 2000, four sigma either way */
	assert_in_range(covered, 1861, 1939);
}

static void an_outlier_is_flagged(void **state)
{
	static const double values[] = {100, 101, 99, 100.5, 120};
	bool flags[5];

	assert_int_equal(summary_flag(values, 5, flags), 1);
	assert_true(flags[4]);
	assert_false(flags[0]);
}

static void alike_repeats_are_not_flagged(void **state)
{
	static const double values[] = {100, 101, 99, 100.5, 99.5};
	bool flags[5];

	assert_int_equal(summary_flag(values, 5, flags), 0);
	/* of three nobody can tell which one is odd */
	assert_int_equal(summary_flag((const double[]){1, 1, 9}, 3, flags), 0);
}

static void steady_states_are_told(void **state)
{
	double level[10], step[10], ramp[10], noise[10];
	uint64_t seed = 9;

	for (int i = 0; i < 10; i++) {
		level[i] = 1000 + i % 2;
		step[i] = i < 5 ? 800 : 1000;
		ramp[i] = 1000 + 20 * i;
		noise[i] = 1000 * (1 + 0.2 * (test_uniform(&seed) - 0.5));
	}
	assert_int_equal(summary_steady(level, 10), 1);
	assert_int_equal(summary_steady(step, 10), 0);
	assert_int_equal(summary_steady(ramp, 10), 0);
	assert_int_equal(summary_steady(noise, 10), 0);
	assert_int_equal(summary_steady(level, 9), -1);
	assert_int_equal(summary_steady((const double[10]){0}, 10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(t_is_that_of_the_tables),
		cmocka_unit_test(the_interval_is_students),
		cmocka_unit_test(one_value_has_no_interval),
		cmocka_unit_test(intervals_cover_the_true_mean),
		cmocka_unit_test(an_outlier_is_flagged),
		cmocka_unit_test(alike_repeats_are_not_flagged),
		cmocka_unit_test(steady_states_are_told),
	};

	return cmocka_run_group_tests_name("bench.summary", tests, NULL, NULL);
}
