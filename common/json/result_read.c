/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_read.c -- values of a result, and histograms read back.
 *
 * Merging and summarising read them: from a journal, another rank, or a
 * server's report. All of it is foreign, so every number is checked against
 * the rule of the file format before it counts.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/base/failure.h"
#include "json_path.h"
#include "result.h"

/*
 * Histograms, clocks, devices and times as JSON values.
 *
 * An unknown value becomes null, never 0. The shapes are those of
 * doc/schema/rpma-bench-1.schema.json.
 */

const double result_percentiles[RESULT_PERCENTILES] = {0.5,   0.9,    0.95,    0.99,
						       0.999, 0.9999, 0.99999, 0.999999};

json_t *result_text(const char *text)
{
	json_t *value = text != NULL && text[0] != '\0' ? json_string(text) : json_null();

	/* the machine's own texts need not be UTF-8 */
	return value != NULL ? value : json_null();
}

json_t *result_known(long long value)
{
	return value >= 0 ? json_integer(value) : json_null();
}

json_t *result_integer(uint64_t value)
{
	return json_integer((json_int_t)value);
}

json_t *result_real(double value)
{
	return isfinite(value) ? json_real(round(value * 1000) / 1000) : json_null();
}

json_t *result_histogram(const struct histogram *h)
{
	json_t *buckets = json_array();

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (h->buckets[i] != 0)
			json_array_append_new(
				buckets, json_pack("[I,I]", (json_int_t)histogram_bucket_low(i),
						   (json_int_t)h->buckets[i]));
	}
	return json_pack("{s:s, s:i, s:s, s:I, s:o}", "scheme", "loglinear", "sub_bits",
			 HISTOGRAM_SUB_BITS, "unit", "ns", "saturated", (json_int_t)h->saturated,
			 "buckets", buckets);
}

static json_t *percentile(const struct histogram *h, double p)
{
	struct percentile q = histogram_percentile(h, p);

	return json_pack("{s:f, s:o, s:n, s:n}", "p", p, "ns",
			 q.known ? result_real(q.ns) : json_null(), "lo_ns", "hi_ns");
}

json_t *result_percentile_list(const struct histogram *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < RESULT_PERCENTILES; i++)
		json_array_append_new(list, percentile(h, result_percentiles[i]));
	return list;
}

json_t *result_latency(const struct histogram *h)
{
	double deviation = histogram_stddev_ns(h);
	bool whole = h->unbegun == 0;
	json_t *value;

	if (h->count == 0)
		return json_null();
	value = json_pack(
		"{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)h->count, "min_ns",
		(json_int_t)h->min_ns, "max_ns", whole ? result_integer(h->max_ns) : json_null(),
		"mean_ns", whole ? result_real(histogram_mean_ns(h)) : json_null(), "stddev_ns",
		whole && deviation >= 0 ? result_real(deviation) : json_null(), "percentiles",
		result_percentile_list(h), "histogram", result_histogram(h));
	if (!whole)
		json_object_set_new(value, "unbegun_ops", result_integer(h->unbegun));
	return value;
}

json_t *result_clock(const struct clock *clock)
{
	json_t *value = json_pack("{s:s, s:o, s:o}", "source", clock_source_name(clock),
				  "overhead_ns", result_real(clock->overhead_ns), "resolution_ns",
				  result_real(clock->resolution_ns));

	json_object_set_new(value, "hz", clock->counter ? result_real(clock->hz) : json_null());
	json_object_set_new(value, "calibration_ns",
			    clock->counter ? json_integer((json_int_t)CLOCK_CALIBRATION_NS)
					   : json_null());
	json_object_set_new(value, "drift_ppm",
			    clock->counter ? result_real(clock->drift_ppm) : json_null());
	json_object_set_new(value, "fallback_reason", result_text(clock->fallback_reason));
	return value;
}

json_t *result_device(const struct device *device, int emulated_cpu)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "name", device->name, "kind",
			 device_kind_name(device->kind), "transport",
			 result_text(device->transport), "emulated_cpu",
			 emulated_cpu < 0 ? json_null() : json_boolean(emulated_cpu));
}

json_t *result_time(const struct timespec *time)
{
	char seconds[32], text[48];
	struct tm utc;

	gmtime_r(&time->tv_sec, &utc);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(text, sizeof(text), "%s.%03ldZ", seconds, time->tv_nsec / 1000000);
	return json_string(text);
}

json_t *result_uuid(const uint8_t id[16])
{
	char text[40];
	size_t at = 0;

	for (size_t i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			text[at++] = '-';
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%02x", id[i]);
	}
	return json_string(text);
}

int result_new_uuid(uint8_t id[16])
{
	if (getrandom(id, 16, 0) != 16)
		return failure_set(EXIT_INTERNAL, "start", "the kernel gave no random bytes");
	id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
	return 0;
}

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
	json_array_foreach(buckets, index, pair) {
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
