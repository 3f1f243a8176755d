/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_arrivals.c -- plans of an open loop against arithmetic and the theory of
 * Poisson processes: gaps are exponential, counts have the variance of their mean.
 */
#include "tools/rpma-bench/measure/arrivals.h"

#include <math.h>

#include "tests/lib/test.h"

static struct arrivals a;

static const struct variant even = {BENCH_EVEN, 0}, poisson = {BENCH_POISSON, 0};

#define PERIOD_NS 1000.0
#define COUNT	  1000000

TEST(even_times_are_products)
{
	arrivals_init(&a, even, 1e9 / 3, 17, 0);
	for (int i = 0; i < 1000; i++)
		assert_true(arrivals_next(&a) == 17 + i * (1e9 / 3));
}

TEST(bursts_come_at_once)
{
	arrivals_init(&a, (struct variant){BENCH_BURST, 4}, PERIOD_NS, 500, 0);
	for (int i = 0; i < 1000; i++)
		assert_true(arrivals_next(&a) == 500 + (i - i % 4) * PERIOD_NS);
}

/* The mean of n exponentials of mean 1 is within 5 / sqrt(n); their variance is 1. */
TEST(gaps_are_exponential)
{
	double sum = 0, squares = 0, last = 0, beyond[4] = {0};

	arrivals_init(&a, poisson, PERIOD_NS, 0, 42);
	for (int i = 0; i < COUNT; i++) {
		double due = arrivals_next(&a), gap = (due - last) / PERIOD_NS;

		assert_true(gap >= 0);
		last = due;
		sum += gap;
		squares += gap * gap;
		for (int k = 0; k < 4; k++)
			beyond[k] += gap > k + 1;
	}
	assert_true(fabs(sum / COUNT - 1) < 5 / sqrt(COUNT));
	/* the variance of the square of such a gap is 24 - 4 = 20 */
	assert_true(fabs(squares / COUNT - 2) < 5 * sqrt(20.0 / COUNT));
	for (int k = 0; k < 4; k++) {
		double p = exp(-(k + 1));

		assert_true(fabs(beyond[k] / COUNT - p) < 5 * sqrt(p * (1 - p) / COUNT));
	}
}

/* How many come within a second: 1000 on average, with a variance of 1000. */
TEST(counts_have_the_variance_of_their_mean)
{
	const int seconds = 2000;
	double sum = 0, squares = 0;

	for (int i = 0; i < seconds; i++) {
		int n = 0;

		arrivals_init(&a, poisson, 1e6, 0, (uint64_t)i);
		while (arrivals_next(&a) < 1e9)
			n++;
		sum += n;
		squares += (double)n * n;
	}
	sum /= seconds;
	assert_true(fabs(sum - 1000) < 5 * sqrt(1000.0 / seconds));
	assert_true(fabs((squares / seconds - sum * sum) / 1000 - 1) < 5 * sqrt(2.0 / seconds));
}

TEST(a_seed_is_a_plan)
{
	struct arrivals b, c;
	bool differ = false;

	arrivals_init(&a, poisson, PERIOD_NS, 0, 7);
	arrivals_init(&b, poisson, PERIOD_NS, 0, 7);
	arrivals_init(&c, poisson, PERIOD_NS, 0, 8);
	for (int i = 0; i < 100; i++) {
		double due = arrivals_next(&a);

		assert_true(due == arrivals_next(&b));
		differ = differ || due != arrivals_next(&c);
	}
	assert_true(differ);
}

/* 10 are due at 0, 100, ... 900; the end is right before 1000. */
TEST(what_is_left_includes_the_last_one)
{
	static const struct variant kinds[] = {{BENCH_EVEN, 0}, {BENCH_BURST, 5}, {BENCH_BURST, 2}};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		arrivals_init(&a, kinds[k], 100, 0, 0);
		assert_int_equal(arrivals_left(&a, 999.5), 0);
		for (uint64_t i = 0; i < 10; i++) {
			arrivals_next(&a);
			assert_int_equal(arrivals_left(&a, 999.5), 10 - i);
		}
		arrivals_next(&a);
		assert_int_equal(arrivals_left(&a, 999.5), 0);
	}
	/* half of a second passed: about 500 are to come */
	arrivals_init(&a, poisson, 1e6, 0, 3);
	while (arrivals_next(&a) < 5e8)
		;
	assert_in_range(arrivals_left(&a, 1e9), 450, 501);
	while (arrivals_next(&a) < 1e9)
		;
	assert_int_equal(arrivals_left(&a, 1e9), 0);
}
