/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_server.c -- the server's report of a repeat, taken over with care.
 *
 * The report is foreign: of each value only what has the type and the range of
 * the schema is kept, keys that are not known are dropped, and what follows
 * from other figures (rates, percentiles) is worked out here, not believed.
 */
#include "repeat_server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/json/result.h"

/* what nobody counts in a repeat; a thousand of them still add up */
#define COUNT_MAX    (1LL << 52)
#define TEXT_MAX     512
#define CODE_MAX     40
#define COUNTERS_MAX 512
#define STEPS_MAX    8
#define WARNINGS_MAX 16

/* Null, or a copy of a whole number that is not negative. */
static json_t *take_integer(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	bool sane = json_is_integer(value) && json_integer_value(value) <= COUNT_MAX;

	return sane ? result_known(json_integer_value(value)) : json_null();
}

static json_t *take_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL && strlen(text) <= TEXT_MAX ? result_text(text) : json_null();
}

/* Of a word: letters, digits and what joins them. */
static bool is_word(const char *text, size_t max)
{
	size_t len = strlen(text);

	return len > 0 && len <= max &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			    "_-./:") == len;
}

static uint64_t positive(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 && value <= COUNT_MAX ? (uint64_t)value : 0;
}

int repeat_put_rates(json_t *object, const struct params *params, uint64_t ops, uint64_t elapsed_ns)
{
	bool payload = params_has_operations(params);
	double per_s = elapsed_ns > 0 ? (double)ops / ((double)elapsed_ns / 1e9) : NAN;
	uint64_t bytes;
	int bad = 0;

	if (__builtin_mul_overflow(ops, params->size_bytes, &bytes) || bytes > INT64_MAX)
		payload = false;

	bad |= json_object_set_new(object, "elapsed_ns", result_integer(elapsed_ns));
	bad |= json_object_set_new(object, "ops", result_integer(ops));
	bad |= json_object_set_new(object, "bytes", payload ? result_integer(bytes) : json_null());
	bad |= json_object_set_new(object, "ops_per_s", result_real(per_s));
	bad |= json_object_set_new(object, "bytes_per_s",
				   payload ? result_real(per_s * (double)params->size_bytes)
					   : json_null());
	return bad;
}

/* Percentiles are worked out anew from the buckets, which must agree with the rest. */
static json_t *take_latency(const json_t *value)
{
	struct histogram *h = malloc(sizeof(*h));
	json_t *latency = NULL;

	if (h == NULL)
		return NULL;
	if (result_read_latency(value, h) == 0) {
		latency = result_latency(h);
		/* as they were said: the way back through sums may round them again */
		json_object_set(latency, "mean_ns", json_object_get(value, "mean_ns"));
		json_object_set(latency, "stddev_ns", json_object_get(value, "stddev_ns"));
	} else {
		latency = json_null();
	}
	free(h);
	return latency;
}

static json_t *take_thread(const json_t *thread, size_t index)
{
	static const char *const keys[] = {"user_ns",	     "sys_ns",	     "vol_switches",
					   "invol_switches", "minor_faults", "major_faults"};
	json_t *taken = json_pack("{s:o, s:o, s:o, s:o}", "index", result_integer(index), "cpu",
				  take_integer(thread, "cpu"), "cpus", take_text(thread, "cpus"),
				  "ops", result_integer(positive(thread, "ops")));

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (json_is_integer(json_object_get(thread, keys[i])))
			json_object_set_new(taken, keys[i], take_integer(thread, keys[i]));
	}
	return taken;
}

static json_t *take_threads(const json_t *threads)
{
	json_t *list = json_array();
	const json_t *thread;
	size_t index;

	json_array_foreach(threads, index, thread)
	{
		if (index < PARAMS_THREADS_MAX)
			json_array_append_new(list, take_thread(thread, index));
	}
	return list;
}

static json_t *take_steps(const json_t *steps)
{
	json_t *list = json_array();
	const json_t *step;
	size_t index;

	json_array_foreach(steps, index, step)
	{
		const char *name = json_string_value(json_object_get(step, "name"));

		if (index < STEPS_MAX && name != NULL && is_word(name, CODE_MAX))
			json_array_append_new(
				list, json_pack("{s:s, s:o}", "name", name, "latency",
						take_latency(json_object_get(step, "latency"))));
	}
	return list;
}

static json_t *take_counters(const json_t *counters)
{
	json_t *taken = json_object(), *value;
	const char *key;

	if (!json_is_object(counters)) {
		json_decref(taken);
		return json_null();
	}
	json_object_foreach((json_t *)counters, key, value)
	{
		if (is_word(key, TEXT_MAX) && json_is_integer(value) &&
		    json_integer_value(value) >= 0 && json_object_size(taken) < COUNTERS_MAX)
			json_object_set(taken, key, value);
	}
	return taken;
}

static json_t *take_cpu(const json_t *report)
{
	const json_t *load = json_object_get(report, "load_fraction_measured");
	double elapsed = (double)positive(report, "elapsed_ns"), fraction = json_number_value(load);
	double busy = (double)positive(report, "user_ns") + (double)positive(report, "sys_ns");
	bool known = json_is_number(load) && fraction >= 0 && fraction <= 1;

	if (elapsed <= 0)
		return json_null();
	return json_pack("{s:o, s:o}", "busy_fraction", result_real(busy / elapsed),
			 "load_fraction_measured", known ? result_real(fraction) : json_null());
}

static json_t *take_verify(const json_t *verify)
{
	json_t *checked = take_integer(verify, "checked_bytes");
	json_t *wrong = take_integer(verify, "mismatches");

	if (!json_is_integer(checked) || !json_is_integer(wrong)) {
		json_decref(checked);
		json_decref(wrong);
		return json_null();
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "checked_bytes", checked, "mismatches", wrong,
			 "overwritten_bytes", take_integer(verify, "overwritten_bytes"),
			 "first_offset", take_integer(verify, "first_offset"), "method",
			 take_text(verify, "method"));
}

static json_t *take_reverse(const json_t *reverse, const struct params *params)
{
	json_t *taken;

	if (positive(reverse, "ops") == 0 || positive(reverse, "elapsed_ns") == 0)
		return json_null();
	taken = json_pack("{s:o, s:o}", "latency",
			  take_latency(json_object_get(reverse, "latency")), "threads",
			  take_threads(json_object_get(reverse, "threads")));
	if (repeat_put_rates(taken, params, positive(reverse, "ops"),
			     positive(reverse, "elapsed_ns")) != 0) {
		json_decref(taken);
		return NULL;
	}
	return taken;
}

static json_t *take_placement(const json_t *placement)
{
	const json_t *cpus = json_object_get(placement, "cpus"), *cpu;
	json_t *list = json_array();
	size_t index;

	if (!json_is_object(placement)) {
		json_decref(list);
		return json_null();
	}
	json_array_foreach(cpus, index, cpu)
	{
		if (index < PARAMS_THREADS_MAX)
			json_array_append_new(list, json_is_integer(cpu)
							    ? result_known(json_integer_value(cpu))
							    : json_null());
	}
	return json_pack("{s:o, s:o, s:o}", "policy", take_text(placement, "policy"), "cpus", list,
			 "node", take_integer(placement, "node"));
}

static json_t *take_warnings(const json_t *warnings)
{
	json_t *list = json_array();
	const json_t *warning;
	size_t index;

	json_array_foreach(warnings, index, warning)
	{
		const char *code = json_string_value(json_object_get(warning, "code"));
		json_t *text = take_text(warning, "text");

		if (index < WARNINGS_MAX && code != NULL && is_word(code, CODE_MAX) &&
		    json_is_string(text))
			json_array_append_new(list,
					      json_pack("{s:s, s:O}", "code", code, "text", text));
		json_decref(text);
	}
	return list;
}

/* A registration happens on the server: the client has nothing of its own to say. */
static int take_registration(json_t *repeat, const struct params *params,
			     const json_t *registration)
{
	int bad = repeat_put_rates(repeat, params, positive(registration, "ops"),
				   positive(registration, "elapsed_ns"));

	bad |= json_object_set_new(repeat, "latency",
				   take_latency(json_object_get(registration, "latency")));
	bad |= json_object_set_new(repeat, "steps",
				   take_steps(json_object_get(registration, "steps")));
	bad |= json_object_set_new(repeat, "threads",
				   take_threads(json_object_get(registration, "threads")));
	return bad;
}

bool repeat_take_server(json_t *repeat, const struct params *params, const json_t *report)
{
	json_t *cpu = json_object_get(repeat, "cpu");
	json_t *counters = json_object_get(repeat, "counters");
	int bad = 0;

	bad |= json_object_set_new(cpu, "server", take_cpu(report));
	bad |= json_object_set_new(counters, "server",
				   take_counters(json_object_get(report, "counters")));
	bad |= json_object_set_new(repeat, "requests", take_integer(report, "requests"));
	bad |= json_object_set_new(repeat, "persist_method", take_text(report, "persist_method"));
	bad |= json_object_set_new(repeat, "verify",
				   take_verify(json_object_get(report, "verify")));
	bad |= json_object_set_new(repeat, "reverse",
				   take_reverse(json_object_get(report, "reverse"), params));
	bad |= json_object_set_new(
		repeat, "placement",
		json_pack("{s:o}", "server", take_placement(json_object_get(report, "placement"))));
	bad |= json_object_set_new(repeat, "warnings",
				   take_warnings(json_object_get(report, "warnings")));
	if (params->test == BENCH_REGISTER)
		bad |= take_registration(repeat, params, json_object_get(report, "registration"));
	return bad == 0;
}
