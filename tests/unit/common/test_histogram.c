/* SPDX-License-Identifier: BSD-3-Clause */
/* test_histogram.c -- the properties a histogram must have, on known numbers. */
#include <math.h>

#include "common/base/histogram.h"
#include "tests/lib/test.h"

#define RANGE (1ULL << HISTOGRAM_RANGE_BITS)

static struct histogram h, other, third, left, right;

static void fill(struct histogram *histogram, uint64_t seed, size_t count)
{
	histogram_reset(histogram);
	for (size_t i = 0; i < count; i++)
		histogram_record(histogram, test_random(&seed) >> (28 + seed % 30));
}

TEST(a_bucket_holds_what_it_says)
{
	uint64_t next = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), width = histogram_bucket_width(i);

		EQUAL((low, next), (histogram_index(low), i),
		      (histogram_index(low + width - 1), i));
		next = low + width;
	}
	assert_int_equal(next, RANGE);
}

/* The rule that readers of the JSON go by. */
TEST(widths_follow_the_rule_of_the_file_format)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		uint64_t low = histogram_bucket_low(i), expected = 1;

		if (low >= 128)
			expected = 1ULL << (63 - __builtin_clzll(low) - 7);
		assert_int_equal(histogram_bucket_width(i), expected);
	}
}

TEST(the_error_is_below_one_in_128)
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

TEST(extremes_and_mean_are_exact)
{
	static const uint64_t values[] = {1000003, 17, 999999999, 4096, 17};

	histogram_reset(&h);
	for (size_t i = 0; i < 5; i++)
		histogram_record(&h, values[i]);
	EQUAL((h.count, 5), (h.min_ns, 17), (h.max_ns, 999999999), (h.sum_ns, 1001004132));
	assert_true(fabs(histogram_mean_ns(&h) - 200200826.4) < 1e-6);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squared differences 32, of 7 degrees */
TEST(the_deviation_is_exact)
{
	static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};

	histogram_reset(&h);
	assert_true(histogram_stddev_ns(&h) < 0);
	for (size_t i = 0; i < 8; i++)
		histogram_record(&h, values[i]);
	assert_true(fabs(histogram_stddev_ns(&h) - sqrt(32.0 / 7)) < 1e-12);
}

/* A small deviation on a large mean: what sums of floating squares lose. */
TEST(the_deviation_survives_large_values)
{
	histogram_reset(&h);
	for (int i = 0; i < 1000000; i++)
		histogram_record(&h, 60000000000UL + (uint64_t)(i % 2));
	assert_true(fabs(histogram_stddev_ns(&h) - 0.5) < 1e-6);
	assert_true(fabs(histogram_mean_ns(&h) - 60000000000.5) < 1e-4);
}

TEST(saturation_is_counted)
{
	histogram_reset(&h);
	histogram_record(&h, RANGE - 1);
	assert_int_equal(h.saturated, 0);
	histogram_record(&h, RANGE);
	histogram_record(&h, 3 * RANGE);
	EQUAL((h.saturated, 2), (h.buckets[HISTOGRAM_BUCKETS - 1], 3), (h.max_ns, 3 * RANGE));
}

TEST(counts_beyond_2_to_53_stay_exact)
{
	histogram_reset(&h);
	histogram_reset(&other);
	h.count = h.buckets[5] = (1ULL << 53) + 1;
	h.sum_ns = 5 * h.count;
	h.min_ns = h.max_ns = 5;
	histogram_record(&other, 5);
	histogram_merge(&h, &other);
	EQUAL((h.count, (1ULL << 53) + 2), (h.sum_ns, 5 * ((1ULL << 53) + 2)));
}

TEST(merging_is_recording_all)
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

TEST(adding_is_recording_as_often)
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

TEST(an_empty_one_merges_to_nothing)
{
	fill(&h, 7, 1000);
	other = h;
	histogram_reset(&third);
	histogram_merge(&h, &third);
	assert_memory_equal(&h, &other, sizeof(h));
	histogram_merge(&third, &h);
	assert_memory_equal(&third, &other, sizeof(h));
}

TEST(merging_is_associative)
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

static double percentile(double p)
{
	struct percentile found = histogram_percentile(&h, p);

	assert_true(found.known);
	return found.ns;
}

/* 1..100, ten times each: k stands for k - 0.5 to k + 0.5, so the quantile p is 100p + 0.5 */
TEST(percentiles_are_interpolated_between_values)
{
	static const double ps[] = {0.5, 0.9, 0.905, 0.95, 0.99};

	histogram_reset(&h);
	for (uint64_t i = 1; i <= 100; i++)
		histogram_add(&h, i, 10);
	for (size_t i = 0; i < sizeof(ps) / sizeof(ps[0]); i++)
		assert_true(fabs(percentile(ps[i]) - (100 * ps[i] + 0.5)) < 1e-9);
}

/* From 2^20 a bucket has 2^13 values: 1048576 to 1056767, and the next from there. */
TEST(percentiles_are_interpolated_inside_a_bucket)
{
	histogram_reset(&h);
	histogram_add(&h, 1048576, 1);
	histogram_add(&h, 1050000, 299);
	histogram_add(&h, 1060000, 700);
	histogram_add(&h, 1070000, 100);
	/* sample 110 of 300, sample 250 of 700 */
	assert_true(fabs(percentile(0.1) - (1048575.5 + 8192.0 * 110 / 300)) < 1e-6);
	assert_true(fabs(percentile(0.5) - (1056767.5 + 8192.0 * 250 / 700)) < 1e-6);
}

/* The first and the last bucket have samples only between the extremes. */
TEST(the_extremes_bound_the_outer_buckets)
{
	histogram_reset(&h);
	histogram_add(&h, 1050000, 500);
	histogram_add(&h, 1060000, 500);
	assert_true(fabs(percentile(0.25) - (1049999.5 + (1056767.5 - 1049999.5) / 2)) < 1e-6);
	assert_true(fabs(percentile(0.75) - (1056767.5 + (1060000.5 - 1056767.5) / 2)) < 1e-6);
}

/* 900 of 1000 end the lower bucket: the gap to the upper one is not bridged. */
TEST(a_percentile_lies_where_samples_are)
{
	histogram_reset(&h);
	histogram_add(&h, 100, 900);
	histogram_add(&h, 5000, 100);
	assert_true(fabs(percentile(0.9) - 100.5) < 1e-9);
	assert_true(percentile(0.901) > 4991);
}

/* The last bucket holds what saturated, up to the maximum. */
TEST(saturated_samples_reach_to_the_maximum)
{
	uint64_t low = histogram_bucket_low(HISTOGRAM_BUCKETS - 1);

	histogram_reset(&h);
	histogram_add(&h, 1000, 500);
	histogram_add(&h, 4 * RANGE, 500);
	assert_true(fabs(percentile(0.75) - (double)(low + 4 * RANGE) / 2) < 1e-3);
}

TEST(a_percentile_needs_ten_samples_beyond_it)
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

TEST(percentiles_stay_between_the_extremes)
{
	histogram_reset(&h);
	histogram_add(&h, 1000001, 100);
	assert_true(percentile(0.5) == 1000001);
	assert_true(percentile(0.9) == 1000001);
}

/* 100 done and 100 that were never begun: the median is the slowest of those done. */
TEST(what_was_never_begun_is_beyond_all_samples)
{
	struct histogram twice;

	histogram_reset(&h);
	histogram_add(&h, 50, 90);
	histogram_add(&h, 100, 10);
	h.unbegun = 100;
	assert_true(fabs(percentile(0.25) - 50) < 0.51);
	assert_true(fabs(percentile(0.5) - 100.5) < 0.51);
	assert_false(histogram_percentile(&h, 0.9).known);
	h.unbegun = 101;
	assert_false(histogram_percentile(&h, 0.5).known);
	histogram_reset(&twice);
	histogram_merge(&twice, &h);
	histogram_merge(&twice, &h);
	assert_int_equal(twice.unbegun, 202);
	/* those that were never begun are the ten beyond it that a percentile needs */
	histogram_reset(&h);
	histogram_add(&h, 100, 10);
	h.unbegun = 10;
	assert_true(histogram_percentile(&h, 0.5).known);
}
