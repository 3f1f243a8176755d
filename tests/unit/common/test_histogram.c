/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_histogram.c -- the properties a histogram must have, on known numbers.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/lib/test.h"
#include "tools/common/base/histogram.h"

#define RANGE (1ULL << HISTOGRAM_RANGE_BITS)

static struct histogram h, other, third, left, right;

static void fill(struct histogram *histogram, uint64_t seed, size_t count)
{
	histogram_reset(histogram);
	for (size_t i = 0; i < count; i++)
		histogram_record(histogram, test_random(&seed) >> (28 + seed % 30));
}

static void a_bucket_holds_what_it_says(void **state)
{
	uint64_t next = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), width = histogram_bucket_width(i);

		assert_int_equal(low, next);
		assert_int_equal(histogram_index(low), i);
		assert_int_equal(histogram_index(low + width - 1), i);
		next = low + width;
	}
	assert_int_equal(next, RANGE);
}

/* The rule that readers of the JSON go by. */
static void widths_follow_the_rule_of_the_file_format(void **state)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), expected = 1;

		if (low >= 128)
			expected = 1ULL << (63 - __builtin_clzll(low) - 7);
		assert_int_equal(histogram_bucket_width(i), expected);
	}
}

static void the_error_is_below_one_in_128(void **state)
{
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		uint64_t value = test_random(&seed) >> (28 + seed % 36);
		size_t index = histogram_index(value);
		uint64_t low = histogram_bucket_low(index);

		assert_true(low <= value);
		assert_true((value - low) * 128 <= value);
		assert_true(value < low + histogram_bucket_width(index));
	}
}

static void extremes_and_mean_are_exact(void **state)
{
	static const uint64_t values[] = {1000003, 17, 999999999, 4096, 17};

	histogram_reset(&h);
	for (size_t i = 0; i < 5; i++)
		histogram_record(&h, values[i]);
	assert_int_equal(h.count, 5);
	assert_int_equal(h.min_ns, 17);
	assert_int_equal(h.max_ns, 999999999);
	assert_int_equal(h.sum_ns, 1001004132);
	assert_true(fabs(histogram_mean_ns(&h) - 200200826.4) < 1e-6);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squared differences 32, of 7 degrees */
static void the_deviation_is_exact(void **state)
{
	static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};

	histogram_reset(&h);
	assert_true(histogram_stddev_ns(&h) < 0);
	for (size_t i = 0; i < 8; i++)
		histogram_record(&h, values[i]);
	assert_true(fabs(histogram_stddev_ns(&h) - sqrt(32.0 / 7)) < 1e-12);
}

/* A small deviation on a large mean: what sums of floating squares lose. */
static void the_deviation_survives_large_values(void **state)
{
	histogram_reset(&h);
	for (int i = 0; i < 1000000; i++)
		histogram_record(&h, 60000000000UL + (uint64_t)(i % 2));
	assert_true(fabs(histogram_stddev_ns(&h) - 0.5) < 1e-6);
	assert_true(fabs(histogram_mean_ns(&h) - 60000000000.5) < 1e-4);
}

static void saturation_is_counted(void **state)
{
	histogram_reset(&h);
	histogram_record(&h, RANGE - 1);
	assert_int_equal(h.saturated, 0);
	histogram_record(&h, RANGE);
	histogram_record(&h, 3 * RANGE);
	assert_int_equal(h.saturated, 2);
	assert_int_equal(h.buckets[HISTOGRAM_BUCKETS - 1], 3);
	assert_int_equal(h.max_ns, 3 * RANGE);
}

static void counts_beyond_2_to_53_stay_exact(void **state)
{
	histogram_reset(&h);
	histogram_reset(&other);
	h.count = h.buckets[5] = (1ULL << 53) + 1;
	h.sum_ns = 5 * h.count;
	h.min_ns = h.max_ns = 5;
	histogram_record(&other, 5);
	histogram_merge(&h, &other);
	assert_int_equal(h.count, (1ULL << 53) + 2);
	assert_int_equal(h.sum_ns, 5 * ((1ULL << 53) + 2));
}

static void merging_is_recording_all(void **state)
{
	uint64_t seed = 3;

	histogram_reset(&h);
	histogram_reset(&left);
	histogram_reset(&right);
	for (int i = 0; i < 10000; i++) {
		uint64_t value = test_random(&seed) >> 40;

		histogram_record(&h, value);
		histogram_record(i % 3 == 0 ? &left : &right, value);
	}
	histogram_merge(&left, &right);
	assert_memory_equal(&h, &left, sizeof(h));
}

static void adding_is_recording_as_often(void **state)
{
	static const uint64_t values[] = {0,	 1,	    127,   128,
					  12345, RANGE - 1, RANGE, UINT64_MAX >> 20};

	histogram_reset(&h);
	histogram_reset(&other);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		histogram_add(&h, values[i], i + 1);
		for (size_t times = 0; times <= i; times++)
			histogram_record(&other, values[i]);
	}
	assert_memory_equal(&h, &other, sizeof(h));
}

static void an_empty_one_merges_to_nothing(void **state)
{
	fill(&h, 7, 1000);
	other = h;
	histogram_reset(&third);
	histogram_merge(&h, &third);
	assert_memory_equal(&h, &other, sizeof(h));
	histogram_merge(&third, &h);
	assert_memory_equal(&third, &other, sizeof(h));
}

static void merging_is_associative(void **state)
{
	fill(&h, 5, 1000);
	fill(&other, 6, 2000);
	fill(&third, 7, 3000);
	left = h;
	histogram_merge(&left, &other);
	histogram_merge(&left, &third);
	right = other;
	histogram_merge(&right, &third);
	histogram_merge(&right, &h);
	assert_memory_equal(&left, &right, sizeof(left));
}

/* 1..1000 in buckets of their own: the quantile p is the value 1000p. */
static void percentiles_are_ranks(void **state)
{
	histogram_reset(&h);
	for (uint64_t i = 1; i <= 100; i++) {
		for (int k = 0; k < 10; k++)
			histogram_record(&h, i);
	}
	assert_int_equal(histogram_percentile(&h, 0.5).ns, 50);
	assert_int_equal(histogram_percentile(&h, 0.9).ns, 90);
	assert_int_equal(histogram_percentile(&h, 0.99).ns, 99);
	/* ranks 500 +- 31: values 46.9 and 53.2, rounded up to whole ones */
	assert_int_equal(histogram_percentile(&h, 0.5).lo_ns, 47);
	assert_int_equal(histogram_percentile(&h, 0.5).hi_ns, 54);
}

static void a_percentile_needs_ten_samples_beyond_it(void **state)
{
	static const struct {
		double p;
		uint64_t enough;
	} cases[] = {{0.5, 20}, {0.9, 100}, {0.99, 1000}, {0.999, 10000}, {0.9999, 100000}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		histogram_reset(&h);
		for (uint64_t n = 1; n < cases[i].enough; n++)
			histogram_record(&h, 100);
		assert_false(histogram_percentile(&h, cases[i].p).known);
		histogram_record(&h, 100);
		assert_true(histogram_percentile(&h, cases[i].p).known);
	}
}

static void percentiles_stay_between_the_extremes(void **state)
{
	histogram_reset(&h);
	for (int i = 0; i < 100; i++)
		histogram_record(&h, 1000001);
	assert_int_equal(histogram_percentile(&h, 0.5).ns, 1000001);
	assert_int_equal(histogram_percentile(&h, 0.5).lo_ns, 1000001);
	assert_int_equal(histogram_percentile(&h, 0.5).hi_ns, 1000001);
}

/* An exponential distribution has the quantile -mean * ln(1 - p). */
static void intervals_cover_the_true_quantile(void **state)
{
	static const double ps[] = {0.5, 0.9, 0.99};
	uint64_t seed = 11;
	int covered[3] = {0};

	for (int run = 0; run < 1000; run++) {
		histogram_reset(&h);
		for (int i = 0; i < 2000; i++)
			histogram_record(&h, (uint64_t)(-20000 * log(1 - test_uniform(&seed))));
		for (int k = 0; k < 3; k++) {
			struct percentile q = histogram_percentile(&h, ps[k]);
			double truth = -20000 * log(1 - ps[k]);

			covered[k] += (double)q.lo_ns <= truth && truth <= (double)q.hi_ns + 1;
		}
	}
	for (int k = 0; k < 3; k++)
		assert_true(covered[k] >= 930);
	/* bounds as wide as the range would cover always */
	assert_true(covered[0] < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bucket_holds_what_it_says),
		cmocka_unit_test(widths_follow_the_rule_of_the_file_format),
		cmocka_unit_test(the_error_is_below_one_in_128),
		cmocka_unit_test(extremes_and_mean_are_exact),
		cmocka_unit_test(the_deviation_is_exact),
		cmocka_unit_test(the_deviation_survives_large_values),
		cmocka_unit_test(saturation_is_counted),
		cmocka_unit_test(counts_beyond_2_to_53_stay_exact),
		cmocka_unit_test(merging_is_recording_all),
		cmocka_unit_test(merging_is_associative),
		cmocka_unit_test(adding_is_recording_as_often),
		cmocka_unit_test(an_empty_one_merges_to_nothing),
		cmocka_unit_test(percentiles_are_ranks),
		cmocka_unit_test(a_percentile_needs_ten_samples_beyond_it),
		cmocka_unit_test(percentiles_stay_between_the_extremes),
		cmocka_unit_test(intervals_cover_the_true_quantile),
	};

	return cmocka_run_group_tests_name("common.histogram", tests, NULL, NULL);
}
