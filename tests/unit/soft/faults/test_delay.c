/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_delay.c -- the fault delay: the moments it gives against the arithmetic of
 * its distributions.
 *
 * Random ones are drawn DRAWS times from a fixed seed. A mean of n draws has the standard
 * error deviation / sqrt(n); it may be off by five of them, which a right generator exceeds
 * for one seed in 1.7 million, so a fixed seed that passes is evidence.
 */
#include <locale.h>
#include <math.h>

#include "tests/unit/soft/fault_test.h"

#define DRAWS  20000
#define ERRORS 5

struct moments {
	double mean;
	double deviation;
	double least;
	double most;
};

static struct moments moments_of(const double *values)
{
	struct moments moments = {0, 0, values[0], values[0]};

	for (int i = 0; i < DRAWS; i++) {
		moments.mean += values[i] / DRAWS;
		moments.least = fmin(moments.least, values[i]);
		moments.most = fmax(moments.most, values[i]);
	}
	for (int i = 0; i < DRAWS; i++)
		moments.deviation += pow(values[i] - moments.mean, 2) / (DRAWS - 1);
	moments.deviation = sqrt(moments.deviation);
	return moments;
}

static void assert_near(double value, double wanted, double error)
{
	if (fabs(value - wanted) > ERRORS * error)
		fail_msg("%g is not %g within %d * %g", value, wanted, ERRORS, error);
}

TEST(nothing_is_due_at_once)
{
	use_faults("");
	assert_false(fault_any);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 0);
}

TEST(a_fixed_delay_is_added_to_now)
{
	use_faults("delay:time=2us");
	assert_true(fault_any);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1500), 3500); /* they overlap */
}

TEST(only_the_named_operations_are_delayed)
{
	use_faults("delay:time=2us,op=read+flush");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_FLUSH, 8, 1000), 3000);
}

TEST(one_in_so_many_is_delayed_of_the_named_operations)
{
	use_faults("delay:time=2us,every=3,op=write");
	for (int i = 1; i <= 9; i++) {
		assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1000), 0);
		assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), i % 3 == 0 ? 3000 : 0);
	}
	use_faults("delay:time=1us delay:time=100ms,at=2");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 2000);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 100002000);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 2000);
}

TEST(delays_add_up)
{
	use_faults("delay:time=2us delay:time=5us,op=read");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1000), 8000);
}

TEST(a_uniform_delay_has_its_mean_and_bounds)
{
	static double delays[DRAWS];
	const double deviation = 2000 / sqrt(12);
	struct moments moments;

	use_faults("delay:time=1us..3us seed:7");
	for (int i = 0; i < DRAWS; i++)
		delays[i] = (double)(fault_due_ns(SOFT_OP_WRITE, 8, 50) - 50);
	moments = moments_of(delays);
	assert_near(moments.mean, 2000, deviation / sqrt(DRAWS));
	/* the deviation's error: sqrt((kurtosis - 1) / 4n) times it; the kurtosis is 9/5 */
	assert_near(moments.deviation, deviation, deviation * sqrt(0.2 / DRAWS));
	assert_true(moments.least >= 1000 && moments.least < 1010);
	assert_true(moments.most <= 3000 && moments.most > 2990);
}

TEST(a_lognormal_delay_has_its_median_and_sigma)
{
	static double logarithms[DRAWS];
	struct moments moments;
	int below = 0;

	use_faults("delay:median=1ms,sigma=0.5 seed:7");
	for (int i = 0; i < DRAWS; i++) {
		uint64_t delay_ns = fault_due_ns(SOFT_OP_WRITE, 8, 50) - 50;

		below += delay_ns < 1000000;
		logarithms[i] = log((double)delay_ns / 1e6);
	}
	moments = moments_of(logarithms);
	assert_near(below, DRAWS / 2.0, sqrt(DRAWS) / 2);
	assert_near(moments.mean, 0, 0.5 / sqrt(DRAWS));
	assert_near(moments.deviation, 0.5, 0.5 / sqrt(2.0 * DRAWS)); /* normal: kurtosis 3 */
}

TEST(the_same_seed_gives_the_same_delays)
{
	uint64_t first[3];

	use_faults("delay:time=0ns..1s seed:42");
	for (int i = 0; i < 3; i++)
		first[i] = fault_due_ns(SOFT_OP_WRITE, 8, 1);
	use_faults("delay:time=0ns..1s seed:42");
	for (int i = 0; i < 3; i++)
		assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1), first[i]);
	use_faults("delay:time=0ns..1s seed:43");
	assert_int_not_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1), first[0]);
}

TEST(a_full_stop_is_the_point_in_any_locale)
{
	/* not every system has one with a comma: then the default locale does */
	setlocale(LC_ALL, "de_DE.UTF-8");
	use_faults("delay:time=1.5us");
	setlocale(LC_ALL, "C");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 2500);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("delay", "delay:", "delay:2us", "delay:tme=2us", "delay:time=2us,",
		       "delay:op=write", "delay:every=2", "delay:time=2us,time=3us",
		       "delay:time=2us,every=2,at=1", "delay:time=2us,median=1us",
		       "delay:median=2us", "delay:sigma=1", "delay:time=1us,sigma=1",
		       "delay:time=1us,sigma=0");
}

TEST(wrong_values_are_refused)
{
	ASSERT_REFUSED("delay:time=2", "delay:time=us", "delay:time=-1us", "delay:time=1e3us",
		       "delay:time=.us", "delay:time=2us..1us", "delay:time=1us..",
		       "delay:time=..1us", "delay:time=3601s", "delay:time=1us..2us..3us",
		       "delay:median=0ns,sigma=1", "delay:median=1us,sigma=11",
		       "delay:median=1us,sigma=x", "delay:median=1us,sigma=nan",
		       "delay:op=,time=1us", "delay:op=write+,time=1us", "delay:op=wrote,time=1us");
}
