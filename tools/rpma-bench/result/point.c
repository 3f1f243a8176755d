/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * point.c -- summarises the repeats of a point, from their JSON.
 *
 * Percentiles, means and rates are those of the repeats, with one interval over
 * them; histograms are merged for the distribution; a repeat far from the others
 * is flagged with what it had more of than they. Nothing is dropped.
 */
#include "point.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "join.h"
#include "repeat_schema.h"
#include "summary.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

static void add_threads(json_t *counts, const json_t *repeat)
{
	static const char *const keys[] = {"vol_switches", "invol_switches", "minor_faults",
					   "major_faults"};
	const json_t *thread;
	size_t index;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_int_t sum = 0;
		char name[64];

		json_array_foreach(json_object_get(repeat, "threads"), index, thread)
			sum += path_whole(thread, keys[i]);
		snprintf(name, sizeof(name), "client.%s", keys[i]);
		json_object_set_new(counts, name, json_integer(sum));
	}
}

static void add_counters(json_t *counts, const json_t *repeat, const char *host)
{
	json_t *counters = json_object_get(json_object_get(repeat, "counters"), host), *value;
	const char *key;
	char name[600];

	json_object_foreach(counters, key, value) {
		snprintf(name, sizeof(name), "%s.%s", host, key);
		json_object_set(counts, name, value);
	}
}

static json_t *counts_of(const json_t *repeat)
{
	json_t *counts = json_object();

	add_threads(counts, repeat);
	add_counters(counts, repeat, "client");
	add_counters(counts, repeat, "server");
	return counts;
}

static double median(json_t *const *all, size_t count, const char *key, double *room)
{
	for (size_t i = 0; i < count; i++)
		room[i] = json_number_value(json_object_get(all[i], key));
	return summary_median(room, count);
}

/*
 * ["client.invol_switches=40", ...]: what the repeat at the index had more
 * than twice as much of as the median of all repeats.
 */
static json_t *outlier_hints(const json_t *const *repeats, size_t count, size_t index)
{
	json_t **all = calloc(count, sizeof(*all)), *hints = json_array(), *value;
	double *room = calloc(count, sizeof(*room));
	const char *key;

	for (size_t i = 0; all != NULL && i < count; i++)
		all[i] = counts_of(repeats[i]);
	if (all != NULL && room != NULL)
		json_object_foreach(all[index], key, value) {
			if (json_number_value(value) > 2 * median(all, count, key, room))
				json_array_append_new(hints,
						      json_sprintf("%s=%" JSON_INTEGER_FORMAT, key,
								   json_integer_value(value)));
		}
	for (size_t i = 0; all != NULL && i < count; i++)
		json_decref(all[i]);
	free(all);
	free(room);
	return hints;
}

/* Repeats that count, and room for a number and a value of each. */
struct selection {
	size_t count;
	bool complete; /* all of them; else none is */
	const json_t **repeats;
	const json_t **values;
	double *numbers;
};

static void selection_free(struct selection *s)
{
	free(s->repeats);
	free(s->values);
	free(s->numbers);
}

static bool is_complete(const json_t *repeat)
{
	return json_is_true(json_object_get(repeat, "complete"));
}

/* The complete ones; where there is none, all. */
static bool select_repeats(const json_t *repeats, struct selection *s)
{
	size_t all = json_array_size(repeats), index;
	const json_t *repeat;

	*s = (struct selection){
		.repeats = calloc(all + 1, sizeof(*s->repeats)),
		.values = calloc(all + 1, sizeof(*s->values)),
		.numbers = calloc(all + 1, sizeof(*s->numbers)),
	};
	if (s->repeats == NULL || s->values == NULL || s->numbers == NULL) {
		selection_free(s);
		return false;
	}
	json_array_foreach(repeats, index, repeat) {
		if (is_complete(repeat))
			s->repeats[s->count++] = repeat;
	}
	for (index = 0; s->count == 0 && index < all; index++)
		s->repeats[index] = json_array_get(repeats, index);
	s->complete = s->count > 0;
	if (s->count == 0)
		s->count = all;
	return true;
}

/* Over the first count numbers of s. An interval needs complete repeats that all have one. */
static struct summary_interval interval_of(const struct selection *s, size_t count)
{
	struct summary_interval i = summary_over(s->numbers, count);

	i.known = i.known && s->complete && count == s->count;
	return i;
}

static json_t *interval_json(const struct selection *s, size_t count)
{
	struct summary_interval i = interval_of(s, count);

	if (count == 0)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "mean", result_real(i.mean), "ci95_low",
			 i.known ? result_real(i.low) : json_null(), "ci95_high",
			 i.known ? result_real(i.high) : json_null(), "cv",
			 i.known ? json_real(i.cv) : json_null());
}

/* The numbers at a path of s->values, of those that have it. */
static size_t take_numbers(struct selection *s, const char *key)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const json_t *number = path_get(s->values[i], key);

		if (json_is_number(number))
			s->numbers[n++] = json_number_value(number);
	}
	return n;
}

static json_t *mean_of(struct selection *s, const char *key)
{
	return interval_json(s, take_numbers(s, key));
}

static json_t *joined_of(const struct selection *s, const char *key)
{
	return join_key((struct sides){s->repeats, s->count, true}, repeat_fields, key);
}

/* Makes s->values what stands at a path of each repeat; "": the repeats themselves. */
static struct selection *at(struct selection *s, const char *path)
{
	for (size_t i = 0; i < s->count; i++)
		s->values[i] = path_get(s->repeats[i], path);
	return s;
}

/* The mean of a latency; none where a repeat has operations that were never begun. */
static json_t *mean_of_latency(struct selection *s, const struct histogram *merged)
{
	return merged->unbegun == 0 ? mean_of(s, "mean_ns") : json_null();
}

/* A figure that one repeat lacks is unknown: the repeats that have it are the fast ones. */
static json_t *percentile_json(struct selection *s, double p)
{
	struct summary_interval i;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "percentiles/p=%.15g/ns", p);
	n = take_numbers(s, path);
	i = interval_of(s, n);
	return json_pack("{s:f, s:o, s:o, s:o}", "p", p, "ns",
			 n > 0 && n == s->count ? result_real(i.mean) : json_null(), "lo_ns",
			 i.known ? result_real(i.low) : json_null(), "hi_ns",
			 i.known ? result_real(i.high) : json_null());
}

static json_t *percentiles_json(struct selection *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < RESULT_PERCENTILES; i++)
		json_array_append_new(list, percentile_json(s, result_percentiles[i]));
	return list;
}

/* s->values are latencies. */
static json_t *merged_json(struct selection *s)
{
	struct histogram *merged = malloc(sizeof(*merged)), *one = malloc(sizeof(*one));
	json_t *value = NULL;
	size_t merged_count = 0;

	if (merged == NULL || one == NULL)
		goto out;
	histogram_reset(merged);
	for (size_t i = 0; i < s->count; i++) {
		if (result_read_latency(s->values[i], one) == 0) {
			histogram_merge(merged, one);
			merged_count++;
		}
	}
	if (merged_count == 0)
		value = json_null();
	else
		value = json_pack(
			"{s:o, s:o, s:o, s:o, s:o, s:o}", "count", result_integer(merged->count),
			"min_ns", result_integer(merged->min_ns), "max_ns",
			merged->unbegun == 0 ? result_integer(merged->max_ns) : json_null(),
			"mean_ns", mean_of_latency(s, merged), "merged_histogram",
			result_histogram(merged), "percentiles", percentiles_json(s));
	if (json_is_object(value) && merged->unbegun > 0)
		json_object_set_new(value, "unbegun_ops", result_integer(merged->unbegun));
out:
	free(merged);
	free(one);
	return value;
}

static json_t *steps_json(struct selection *s)
{
	const json_t *steps = s->count > 0 ? json_object_get(s->repeats[0], "steps") : NULL, *step;
	json_t *list = json_is_array(steps) ? json_array() : json_null();
	char path[64];
	size_t index;

	json_array_foreach(steps, index, step) {
		const char *name = path_text(step, "name");

		snprintf(path, sizeof(path), "steps/name=%s/latency", name);
		json_array_append_new(list, json_pack("{s:s, s:o}", "name", name, "latency",
						      merged_json(at(s, path))));
	}
	return list;
}

static json_t *reverse_json(struct selection *s)
{
	json_t *value;

	if (take_numbers(at(s, "reverse"), "ops") == 0)
		return json_null();
	value = json_pack("{s:o, s:o}", "ops_per_s", mean_of(s, "ops_per_s"), "bytes_per_s",
			  mean_of(s, "bytes_per_s"));
	json_object_set_new(value, "latency", merged_json(at(s, "reverse/latency")));
	return value;
}

static json_t *verify_json(const struct selection *s)
{
	json_t *verify = joined_of(s, "verify");

	json_object_del(verify, "first_offset");
	json_object_del(verify, "method");
	return verify;
}

/* By mean latency; by its rate for a repeat without any. */
static double figure(const json_t *repeat)
{
	const json_t *mean = path_get(repeat, "latency/mean_ns");

	return json_number_value(mean != NULL ? mean : json_object_get(repeat, "ops_per_s"));
}

static json_t *flagged_json(struct selection *s)
{
	bool *flags = calloc(s->count + 1, sizeof(*flags));
	json_t *list = json_array();

	if (flags == NULL) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < s->count; i++)
		s->numbers[i] = figure(s->repeats[i]);
	summary_flag(s->numbers, s->count, flags);
	for (size_t i = 0; i < s->count; i++) {
		const json_t *index = json_object_get(s->repeats[i], "index");

		if (flags[i])
			json_array_append_new(
				list, json_pack("{s:I, s:s, s:o}", "index",
						json_integer_value(index), "reason", "mean_mad>3",
						"hints", outlier_hints(s->repeats, s->count, i)));
	}
	free(flags);
	return list;
}

#define PUT_COUNT(name, ...) bad |= json_object_set_new(summary, #name, joined_of(&s, #name))

json_t *point_summary(const json_t *repeats)
{
	json_t *summary = json_object();
	struct selection s;
	int bad = 0;

	if (summary == NULL || !select_repeats(repeats, &s)) {
		json_decref(summary);
		return NULL;
	}
	bad |= json_object_set_new(summary, "n", result_integer(s.count));
	at(&s, "");
	bad |= json_object_set_new(summary, "ops_per_s", mean_of(&s, "ops_per_s"));
	bad |= json_object_set_new(summary, "bytes_per_s", mean_of(&s, "bytes_per_s"));
	PLAIN_COUNT_ROWS(PUT_COUNT, ;);
	bad |= json_object_set_new(summary, "latency", merged_json(at(&s, "latency")));
	bad |= json_object_set_new(summary, "read_latency", merged_json(at(&s, "read_latency")));
	bad |= json_object_set_new(summary, "response_latency",
				   merged_json(at(&s, "response_latency")));
	bad |= json_object_set_new(summary, "steps", steps_json(&s));
	bad |= json_object_set_new(summary, "verify", verify_json(&s));
	bad |= json_object_set_new(summary, "reverse", reverse_json(&s));
	bad |= json_object_set_new(summary, "flagged_repeats", flagged_json(&s));
	selection_free(&s);
	if (bad != 0) {
		json_decref(summary);
		return NULL;
	}
	return summary;
}

json_t *point_joined(const json_t *repeats, const char *key)
{
	size_t count = json_array_size(repeats), index;
	const json_t **all = calloc(count + 1, sizeof(*all)), *repeat; /* never nothing */
	json_t *value;

	if (all == NULL)
		return NULL;
	json_array_foreach(repeats, index, repeat)
		all[index] = repeat;
	value = join_key((struct sides){all, count, true}, repeat_fields, key);
	free(all);
	return value;
}

bool point_is_narrow(const json_t *repeats, enum bench_test test, double fraction)
{
	bool by_rate = test == BENCH_BW || test == BENCH_MIX;
	const char *latency = test == BENCH_RATE ? "response_latency" : "latency";
	struct summary_interval i;
	struct selection s;
	size_t n;

	if (!select_repeats(repeats, &s))
		return false;
	n = take_numbers(at(&s, by_rate ? "" : latency), by_rate ? "ops_per_s" : "mean_ns");
	i = interval_of(&s, n);
	selection_free(&s);
	return i.known && n >= POINT_CI_REPEATS_MIN && i.high - i.mean <= fraction * i.mean;
}
