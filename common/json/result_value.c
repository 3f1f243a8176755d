/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_value.c -- histograms, clocks, devices and times as JSON values.
 *
 * What is unknown becomes null, never 0. The shapes are those of
 * doc/schema/rpma-bench-1.schema.json.
 */
#include <math.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

#include "common/base/failure.h"
#include "result.h"

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
