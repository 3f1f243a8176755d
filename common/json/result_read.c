/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_read.c -- histograms back from their JSON.
 *
 * Merging and summarising read it: from a journal, another rank, or a
 * server's report. All of it is foreign, so every number is checked against
 * the rule of the file format before it counts.
 */
#include <errno.h>
#include <math.h>

#include "json_path.h"
#include "result.h"

/* Sums beyond this are no latencies anybody recorded. */
#define SUM_MAX 9.2e18

static bool get_count(const json_t *object, const char *key, uint64_t *value)
{
	const json_t *number = json_object_get(object, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return false;
	*value = (uint64_t)json_integer_value(number);
	return true;
}

static bool read_bucket(const json_t *pair, struct histogram *h, size_t *next)
{
	json_int_t low, count;
	size_t index;

	if (json_array_size(pair) != 2 || !json_is_integer(json_array_get(pair, 0)) ||
	    !json_is_integer(json_array_get(pair, 1)))
		return false;
	low = json_integer_value(json_array_get(pair, 0));
	count = json_integer_value(json_array_get(pair, 1));
	if (low < 0 || count < 1 || (uint64_t)count > INT64_MAX - h->count)
		return false;
	index = histogram_index((uint64_t)low);
	if (index < *next || index >= HISTOGRAM_BUCKETS ||
	    histogram_bucket_low(index) != (uint64_t)low)
		return false;
	if (h->count == 0)
		h->min_ns = (uint64_t)low;
	h->max_ns = (uint64_t)low + histogram_bucket_width(index) - 1;
	h->buckets[index] = (uint64_t)count;
	h->count += (uint64_t)count;
	*next = index + 1;
	return true;
}

/* The mean of bucket middles stands for what is not known better. */
static bool guess_sums(struct histogram *h)
{
	long double sum = 0, squares = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		long double middle = (long double)histogram_bucket_low(i) +
				     (long double)(histogram_bucket_width(i) - 1) / 2;

		sum += middle * (long double)h->buckets[i];
		squares += middle * middle * (long double)h->buckets[i];
	}
	if (sum > (long double)SUM_MAX)
		return false;
	h->sum_ns = (uint64_t)sum;
	h->sum_square = (unsigned __int128)squares;
	return true;
}

/* Knows extremes and mean only to the bucket. 0 or -EINVAL. */
static int read_histogram(const json_t *value, struct histogram *h)
{
	const json_t *buckets = json_object_get(value, "buckets"), *pair, *saturated;
	uint64_t sub_bits;
	size_t index, next = 0;

	histogram_reset(h);
	if (!path_is(value, "scheme", "loglinear") || !path_is(value, "unit", "ns") ||
	    !get_count(value, "sub_bits", &sub_bits) || sub_bits != HISTOGRAM_SUB_BITS ||
	    !json_is_array(buckets))
		return -EINVAL;
	json_array_foreach(buckets, index, pair)
	{
		if (!read_bucket(pair, h, &next))
			return -EINVAL;
	}
	saturated = json_object_get(value, "saturated");
	if (saturated != NULL && (!get_count(value, "saturated", &h->saturated) ||
				  h->saturated > h->buckets[HISTOGRAM_BUCKETS - 1]))
		return -EINVAL;
	return guess_sums(h) ? 0 : -EINVAL;
}

/* Absent: none. */
static bool read_unbegun(const json_t *value, struct histogram *h)
{
	const json_t *unbegun = json_object_get(value, "unbegun_ops");

	return unbegun == NULL || (get_count(value, "unbegun_ops", &h->unbegun) && h->unbegun > 0 &&
				   h->unbegun < INT64_MAX - h->count);
}

static bool read_extremes(const json_t *value, struct histogram *h)
{
	uint64_t low = h->min_ns, high = h->max_ns, count;

	return get_count(value, "count", &count) && count == h->count && count > 0 &&
	       get_count(value, "min_ns", &h->min_ns) &&
	       (h->unbegun > 0 ? json_is_null(json_object_get(value, "max_ns"))
			       : get_count(value, "max_ns", &h->max_ns)) &&
	       h->min_ns <= h->max_ns && histogram_index(h->min_ns) == histogram_index(low) &&
	       (histogram_index(h->max_ns) == histogram_index(high) ||
		(h->saturated > 0 && h->max_ns > high));
}

static bool read_moments(const json_t *value, struct histogram *h)
{
	const json_t *mean = json_object_get(value, "mean_ns");
	const json_t *deviation = json_object_get(value, "stddev_ns");
	double m = json_number_value(mean), d = json_number_value(deviation);
	long double n = (long double)h->count, around;

	/* the sums stay those of the buckets */
	if (h->unbegun > 0)
		return json_is_null(mean) && json_is_null(deviation);
	if (!json_is_number(mean) || m < (double)h->min_ns || m > (double)h->max_ns ||
	    (long double)m * n > (long double)SUM_MAX)
		return false;
	if (!json_is_null(deviation) && (!json_is_number(deviation) || d < 0))
		return false;
	/* no sample is farther from the mean than the extremes are from each other */
	if (d > (double)(h->max_ns - h->min_ns) + 1)
		return false;
	around = (long double)d * (long double)d * (n - 1);
	if (around > (long double)(h->max_ns + 1) * (long double)SUM_MAX)
		return false;
	h->sum_ns = (uint64_t)roundl((long double)m * n);
	h->sum_square =
		(unsigned __int128)h->sum_ns * h->sum_ns / h->count + (unsigned __int128)around;
	return true;
}

int result_read_latency(const json_t *value, struct histogram *h)
{
	int ret = read_histogram(json_object_get(value, "histogram"), h);

	if (ret == 0 &&
	    (!read_unbegun(value, h) || !read_extremes(value, h) || !read_moments(value, h)))
		ret = -EINVAL;
	return ret;
}
