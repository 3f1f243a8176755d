/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.c -- derives the warnings of a result from the facts of its run.
 *
 * Each rule is a function that adds its warning or does not. What concerns the
 * measured points is in warnings_points.c.
 */
#include "warnings.h"

#include <stdbool.h>
#include <string.h>

#include "common/json/result.h"

static bool is_there(const json_t *list, const char *code, const char *host, const json_t *text)
{
	const json_t *one;
	size_t index;

	json_array_foreach(list, index, one) {
		if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0 &&
		    strcmp(json_string_value(json_object_get(one, "host")), host) == 0 &&
		    json_equal(json_object_get(one, "text"), text))
			return true;
	}
	return false;
}

/* The same for texts that the caller knows to differ: it does not search the list. */
static void warning_append(json_t *list, const char *code, const char *severity, const char *host,
			   json_t *text)
{
	if (text != NULL)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o}", "code", code, "severity",
						severity, "host", host, "text", text));
}

void warning_add(json_t *list, const char *code, const char *severity, const char *host,
		 json_t *text)
{
	if (text != NULL && is_there(list, code, host, text))
		json_decref(text);
	else
		warning_append(list, code, severity, host, text);
}

static void warn_end(const struct record *record, json_t *list)
{
	if (record->status == RUN_INTERRUPTED)
		warning_add(list, "INTERRUPTED", "warn", "client",
			    json_sprintf("the run was stopped by a signal: %zu of %zu repeats were "
					 "measured%s",
					 record->repeats_done, record->plan.trials_count,
					 record->repeats_cut > 0 ? ", the last one in part" : ""));
}

static void warn_device(const struct record *record, json_t *list)
{
	if (record->device_known && record->device.kind != DEVICE_HARDWARE)
		warning_add(list, "DEVICE_NOT_HARDWARE", "warn", "client",
			    json_sprintf("%s is a software RDMA device (%s): its timings "
					 "do not predict hardware",
					 record->device.name,
					 device_kind_name(record->device.kind)));
	if (record->emulated_cpu == 1)
		warning_add(
			list, "EMULATED_CPU", "warn", "client",
			json_string("the processor is emulated: absolute figures mean nothing"));
}

static void warn_clock(const struct record *record, json_t *list)
{
	if (!record->clock_started)
		return;
	if (!record->clock.counter)
		warning_add(list, "CLOCK_FALLBACK", "info", "client",
			    json_sprintf("time is taken with clock_gettime (%.0f ns a call): %s",
					 record->clock.overhead_ns, record->clock.fallback_reason));
	if (record->clock_drifted)
		warning_add(list, "CLOCK_DRIFT", "warn", "client",
			    json_sprintf("the clock drifted by %.1f ppm during the run: all times "
					 "are off by that much",
					 record->clock.drift_ppm));
}

static bool has_one_core(const struct topology *topology)
{
	const struct topology_near anywhere = {NULL, -1};
	int cpus[2];

	return topology != NULL && topology_choose(topology, &anywhere, cpus, 2) == 1;
}

static void warn_placement(const struct record *record, json_t *list)
{
	const struct placement *p = &record->placement;

	if (p->pin_warning[0] != '\0')
		warning_add(list, "PIN_FAILED", "warn", "client", result_text(p->pin_warning));
	if (p->memory_warning[0] != '\0')
		warning_add(list, "MEMORY_BIND_FAILED", "warn", "client",
			    result_text(p->memory_warning));
	if (p->shared_warning[0] != '\0')
		warning_add(list, "PIN_SHARED_CORE", "warn", "client",
			    result_text(p->shared_warning));
	else if (has_one_core(record->topology))
		warning_add(list, "PIN_SHARED_CORE", "warn", "client",
			    json_string("the client may use one core: the polling thread shares it "
					"with all else there"));
}

static void warn_governor(json_t *list, const char *host, const json_t *power)
{
	const char *governor = json_string_value(json_object_get(power, "governor"));

	if (governor != NULL && strcmp(governor, "performance") != 0)
		warning_add(list, "GOVERNOR_POWERSAVE", "warn", host,
			    json_sprintf("the CPU frequency governor is %s, not performance",
					 governor));
}

/* {reason: [first point, how many points]}, in the order of the first points. */
static json_t *count_reasons(const struct record *record)
{
	json_t *reasons = json_object();

	for (size_t i = 0; record->unsupported != NULL && i < record->plan.points_count; i++) {
		const char *why = record->unsupported[i];
		json_t *found = why != NULL ? json_object_get(reasons, why) : NULL;
		json_t *count = json_array_get(found, 1);

		if (found != NULL)
			json_integer_set(count, json_integer_value(count) + 1);
		else if (why != NULL)
			json_object_set_new_nocheck(reasons, why,
						    json_pack("[I, i]", (json_int_t)i, 1));
	}
	return reasons;
}

static void warn_unsupported(const struct record *record, json_t *list)
{
	json_t *reasons = count_reasons(record), *found;
	const char *why;

	json_object_foreach(reasons, why, found) {
		json_int_t first = json_integer_value(json_array_get(found, 0));
		json_int_t count = json_integer_value(json_array_get(found, 1));
		json_t *text = json_sprintf("%" JSON_INTEGER_FORMAT " of %zu points not measured, "
					    "p%04" JSON_INTEGER_FORMAT " the first: %s",
					    count, record->plan.points_count, first, why);

		warning_append(list, "POINT_UNSUPPORTED", "warn", "both", text);
	}
	json_decref(reasons);
}

static void warn_hosts(const struct record *record, json_t *list)
{
	json_t *power = environment_power(&record->sysroot);

	warn_governor(list, "client", power);
	json_decref(power);
	warn_governor(list, "server", json_object_get(record->server.environment, "power"));
	if (record->server.known && record->server.environment == NULL)
		warning_add(list, "ENVIRONMENT_INCOMPLETE", "warn", "server",
			    json_string("the server's environment is not known"));
}

json_t *warnings_make(const struct record *record, const json_t *points)
{
	json_t *list = json_array();

	warn_end(record, list);
	warn_device(record, list);
	warn_clock(record, list);
	warn_placement(record, list);
	warn_unsupported(record, list);
	warnings_of_points(record, points, list);
	warn_hosts(record, list);
	return list;
}
