/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repeat_server.c -- the server's report of a repeat, taken over with care.
 *
 * The report is foreign: only what matches report_fields is taken, or the table in
 * interference.c for its part; what follows from other figures (rates,
 * percentiles) is worked out here, not believed.
 */
#include "repeat_server.h"

#include <math.h>

#include "common/json/json_path.h"
#include "common/json/result.h"
#include "repeat_schema.h"

/* Unknown beyond what JSON counts. */
static bool bytes_of(const struct params *params, uint64_t ops, uint64_t *bytes)
{
	if (!params_has_operations(params))
		return false;
	if (params->mix == NULL && __builtin_mul_overflow(ops, params->size_bytes, bytes))
		return false;
	return *bytes <= INT64_MAX;
}

int repeat_put_rates(json_t *object, const struct params *params, uint64_t ops, uint64_t bytes,
		     uint64_t elapsed_ns)
{
	double s = (double)elapsed_ns / 1e9;
	double per_s = elapsed_ns > 0 ? (double)ops / s : NAN;
	bool payload = bytes_of(params, ops, &bytes);
	/* one size: the same digits as always */
	double bytes_per_s = params->mix == NULL ? per_s * (double)params->size_bytes
			     : elapsed_ns > 0	 ? (double)bytes / s
						 : NAN;
	int bad = 0;

	bad |= json_object_set_new(object, "elapsed_ns", result_integer(elapsed_ns));
	bad |= json_object_set_new(object, "ops", result_integer(ops));
	bad |= json_object_set_new(object, "bytes", payload ? result_integer(bytes) : json_null());
	bad |= json_object_set_new(object, "ops_per_s", result_real(per_s));
	bad |= json_object_set_new(object, "bytes_per_s",
				   payload ? result_real(bytes_per_s) : json_null());
	return bad;
}

static json_t *part(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return value != NULL ? json_incref(value) : json_null();
}

static json_t *list(const json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	return json_is_array(value) ? json_incref(value) : json_array();
}

static json_t *cpu_of(const json_t *report)
{
	json_int_t elapsed_ns = path_whole(report, "elapsed_ns");
	json_int_t busy_ns = path_whole(report, "user_ns") + path_whole(report, "sys_ns");
	const json_t *load = json_object_get(report, "load_fraction_measured");

	if (elapsed_ns == 0)
		return json_null();
	return json_pack("{s:o, s:o}", "busy_fraction",
			 result_real((double)busy_ns / (double)elapsed_ns),
			 "load_fraction_measured",
			 json_is_number(load) ? result_real(json_number_value(load)) : json_null());
}

static int put_rates_of(json_t *object, const struct params *params, const json_t *own)
{
	/* servers post operations of one size */
	return repeat_put_rates(object, params, (uint64_t)path_whole(own, "ops"), 0,
				(uint64_t)path_whole(own, "elapsed_ns"));
}

static json_t *reverse_of(const json_t *report, const struct params *params)
{
	const json_t *own = json_object_get(report, "reverse");
	json_t *reverse;

	if (path_whole(own, "ops") == 0 || path_whole(own, "elapsed_ns") == 0)
		return json_null();
	reverse = json_pack("{s:o, s:o}", "latency", part(own, "latency"), "threads",
			    list(own, "threads"));
	if (put_rates_of(reverse, params, own) != 0) {
		json_decref(reverse);
		return NULL;
	}
	return reverse;
}

/* A registration happens on the server: the client has nothing of its own to say. */
static int put_registration(json_t *repeat, const struct params *params, const json_t *own)
{
	int bad = put_rates_of(repeat, params, own);

	bad |= json_object_set_new(repeat, "latency", part(own, "latency"));
	bad |= json_object_set_new(repeat, "steps", list(own, "steps"));
	bad |= json_object_set_new(repeat, "threads", list(own, "threads"));
	return bad;
}

bool repeat_take_server(json_t *repeat, const struct params *params, const json_t *report)
{
	json_t *taken = schema_take(report, report_fields); /* NULL: all of it is unknown */
	json_t *cpu = json_object_get(repeat, "cpu");
	json_t *counters = json_object_get(repeat, "counters");
	int bad = 0;

	bad |= json_object_set_new(cpu, "server", cpu_of(taken));
	bad |= json_object_set_new(counters, "server", part(taken, "counters"));
	bad |= json_object_set_new(json_object_get(repeat, "cpu_quota"), "server",
				   part(taken, "cpu_quota"));
	bad |= json_object_set_new(repeat, "requests", part(taken, "requests"));
	bad |= json_object_set_new(repeat, "persist_method", part(taken, "persist_method"));
	bad |= json_object_set_new(repeat, "verify", part(taken, "verify"));
	bad |= json_object_set_new(repeat, "reverse", reverse_of(taken, params));
	bad |= json_object_set_new(repeat, "placement",
				   json_pack("{s:o}", "server", part(taken, "placement")));
	bad |= json_object_set_new(repeat, "warnings", list(taken, "warnings"));
	if (params->test == BENCH_REGISTER)
		bad |= put_registration(repeat, params, json_object_get(taken, "registration"));
	json_decref(taken);
	return bad == 0;
}
