/* SPDX-License-Identifier: BSD-3-Clause */
/* test_summary.c -- statistics over repeats, against tables and arithmetic. */
#include <math.h>

#include "tests/lib/test.h"
#include "tools/rpma-bench/result/summary.h"

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

/* Quantiles as any table of Student's t has them. */
TEST(t_is_that_of_the_tables)
{
	EQUAL((near(summary_t975(1), 12.706, 1e-4), true),
	      (near(summary_t975(4), 2.776, 1e-3), true),
	      (near(summary_t975(9), 2.262, 1e-3), true),
	      (near(summary_t975(30), 2.042, 1e-3), true),
	      (near(summary_t975(40), 2.021, 1e-3), true),
	      (near(summary_t975(60), 2.000, 1e-3), true),
	      (near(summary_t975(120), 1.980, 1e-3), true),
	      (near(summary_t975(999), 1.962, 1e-3), true));
}

/* 1, 2, 4, 8, 16: logarithms 0..4 of base 2, mean 2, deviation sqrt(10/4), t 2.776 */
TEST(the_interval_is_students_over_logarithms)
{
	static const double values[] = {1, 2, 4, 8, 16};
	struct summary_interval i = summary_over(values, 5);
	double half = 2.77645 * sqrt(2.5) / sqrt(5);

	EQUAL((i.known, true), (near(i.mean, 4, 1e-12), true),
	      (near(i.high, 4 * pow(2, half), 1e-9), true),
	      (near(i.low, 4 / pow(2, half), 1e-9), true),
	      (near(i.cv, sqrt(2.5) * log(2), 1e-12), true));
}

TEST(a_wide_interval_stays_above_zero)
{
	static const double values[] = {1, 1000, 1};
	struct summary_interval i = summary_over(values, 3);

	assert_true(i.known && i.low > 0 && i.low < 1);
	assert_true(near(i.mean * i.mean, i.low * i.high, 1e-9));
}

TEST(fewer_than_three_values_have_no_interval)
{
	static const double values[] = {5, 20};

	EQUAL((summary_over(values, 0).known, false), (summary_over(values, 1).known, false),
	      (summary_over(values, 2).known, false));
	assert_true(summary_over(values, 1).mean == 5);
	assert_true(near(summary_over(values, 2).mean, 10, 1e-12));
}

/* A logarithm of 0 there is not; of equal values the deviation is 0. */
TEST(values_without_spread_or_logarithm)
{
	static const double with_zero[] = {0, 5, 5}, equal[] = {0.1, 0.1, 0.1};
	struct summary_interval i = summary_over(equal, 3);

	assert_false(summary_over(with_zero, 3).known);
	assert_true(summary_over(with_zero, 3).mean == 0);
	assert_true(i.known && i.mean == 0.1 && i.low == 0.1 && i.high == 0.1 && i.cv == 0);
}

TEST(an_outlier_is_flagged)
{
	static const double values[] = {100, 101, 99, 100.5, 120};
	bool flags[5];

	EQUAL((summary_flag(values, 5, flags), 1), (flags[4], true), (flags[0], false));
}

TEST(alike_repeats_are_not_flagged)
{
	static const double values[] = {100, 101, 99, 100.5, 99.5};
	bool flags[5];

	assert_int_equal(summary_flag(values, 5, flags), 0);
	/* among three it is unknown which one is odd */
	assert_int_equal(summary_flag((const double[]){1, 1, 9}, 3, flags), 0);
}

TEST(steady_states_are_told)
{
	double level[10], step[10], ramp[10], noise[10];
	uint64_t seed = 9;

	for (int i = 0; i < 10; i++) {
		level[i] = 1000 + i % 2;
		step[i] = i < 5 ? 800 : 1000;
		ramp[i] = 1000 + 20 * i;
		noise[i] = 1000 * (1 + 0.2 * (test_uniform(&seed) - 0.5));
	}
	EQUAL((summary_steady(level, 10), 1), (summary_steady(step, 10), 0),
	      (summary_steady(ramp, 10), 0), (summary_steady(noise, 10), 0),
	      (summary_steady(level, 9), -1));
	assert_int_equal(summary_steady((const double[10]){0}, 10), 0);
}
