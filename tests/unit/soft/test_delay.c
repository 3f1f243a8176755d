/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_delay.c -- delay and rate: the moments they give against the arithmetic of
 * their distributions.
 *
 * Random ones are drawn DRAWS times from a fixed seed. A mean of n draws has the standard
 * error deviation / sqrt(n); it may be off by five of them, which a right generator exceeds
 * for one seed in 1.7 million, so a fixed seed that passes is evidence.
 */
#include <math.h>

#include "fault_test.h"

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

static void nothing_is_due_at_once(void **state)
{
	use_faults("");
	assert_false(fault_any);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 0);
}

static void a_fixed_delay_is_added_to_now(void **state)
{
	use_faults("delay:time=2us");
	assert_true(fault_any);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1500), 3500); /* they overlap */
}

static void only_the_named_operations_are_delayed(void **state)
{
	use_faults("delay:time=2us,op=read+flush");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_FLUSH, 8, 1000), 3000);
}

static void one_in_so_many_is_delayed_of_the_named_operations(void **state)
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

static void delays_add_up(void **state)
{
	use_faults("delay:time=2us delay:time=5us,op=read");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 1000), 3000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 1000), 8000);
}

static void a_uniform_delay_has_its_mean_and_bounds(void **state)
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

static void a_lognormal_delay_has_its_median_and_sigma(void **state)
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

static void the_same_seed_gives_the_same_delays(void **state)
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

static void a_rate_sends_one_after_the_other(void **state)
{
	use_faults("rate:1GB"); /* a byte a nanosecond */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 500, 1000), 1500);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 300, 1000), 1800);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1700), 1900);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 5000), 5100); /* it was idle */
}

static void a_rate_in_bits_is_an_eighth(void **state)
{
	use_faults("rate:100Gbit"); /* 12.5 bytes a nanosecond */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 4096, 1000), 1328);
}

static void filters_apply_in_order(void **state)
{
	use_faults("delay:time=2us rate:1GB"); /* the wait comes before the wire */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3100);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 3000), 5100);
	use_faults("rate:1GB delay:time=2us"); /* the wire is free again at 1100 */
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3100);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 100, 1000), 3200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_due_at_once),
		cmocka_unit_test(a_fixed_delay_is_added_to_now),
		cmocka_unit_test(only_the_named_operations_are_delayed),
		cmocka_unit_test(one_in_so_many_is_delayed_of_the_named_operations),
		cmocka_unit_test(delays_add_up),
		cmocka_unit_test(a_uniform_delay_has_its_mean_and_bounds),
		cmocka_unit_test(a_lognormal_delay_has_its_median_and_sigma),
		cmocka_unit_test(the_same_seed_gives_the_same_delays),
		cmocka_unit_test(a_rate_sends_one_after_the_other),
		cmocka_unit_test(a_rate_in_bits_is_an_eighth),
		cmocka_unit_test(filters_apply_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
