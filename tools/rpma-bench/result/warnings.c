/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings.c -- derives the warnings of a result from the facts of its run.
 *
 * Each rule is a function that adds its warning or does not. What concerns the
 * measured points is in warnings_points.c.
 */
#include "warnings.h"

#include <string.h>

#include "tools/common/json/result.h"
#include "warning.h"
#include "warnings_points.h"

static void warn_end(const struct run *run, json_t *list)
{
	if (run->status == RUN_INTERRUPTED)
		warning_add(list, "INTERRUPTED", "warn", "client",
			    json_sprintf("the run was stopped by a signal: %zu of %zu repeats were "
					 "measured",
					 run->repeats_done, run->plan.items_count));
}

static void warn_device(const struct run *run, json_t *list)
{
	if (run->device_known && run->device.kind != DEVICE_HARDWARE)
		warning_add(list, "DEVICE_NOT_HARDWARE", "warn", "client",
			    json_sprintf("%s is a software RDMA device (%s): its figures say "
					 "nothing of hardware",
					 run->device.name, device_kind_name(run->device.kind)));
	if (run->emulated_cpu == 1)
		warning_add(
			list, "EMULATED_CPU", "warn", "client",
			json_string("the processor is emulated: absolute figures mean nothing"));
}

static void warn_clock(const struct run *run, json_t *list)
{
	if (!run->clock_started)
		return;
	if (!run->clock.counter)
		warning_add(list, "CLOCK_FALLBACK", "info", "client",
			    json_sprintf("time is taken with clock_gettime (%.0f ns a call): %s",
					 run->clock.overhead_ns, run->clock.fallback_reason));
	if (run->clock_drifted)
		warning_add(list, "CLOCK_DRIFT", "warn", "client",
			    json_sprintf("the clock drifted by %.1f ppm during the run: all times "
					 "are off by that much",
					 run->clock.drift_ppm));
}

static void warn_placement(const struct run *run, json_t *list)
{
	const struct placement *p = &run->placement;

	if (p->pin_warning[0] != '\0')
		warning_add(list, "PIN_FAILED", "warn", "client", result_text(p->pin_warning));
	if (p->memory_warning[0] != '\0')
		warning_add(list, "MEMORY_BIND_FAILED", "warn", "client",
			    result_text(p->memory_warning));
	if (p->shared_warning[0] != '\0')
		warning_add(list, "PIN_SHARED_CORE", "warn", "client",
			    result_text(p->shared_warning));
	else if (run->topology != NULL && topology_cores(run->topology) == 1)
		warning_add(list, "PIN_SHARED_CORE", "warn", "client",
			    json_string("this host has one core: the polling thread shares it with "
					"the kernel's work"));
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
static json_t *count_reasons(const struct run *run)
{
	json_t *reasons = json_object();

	for (size_t i = 0; run->unsupported != NULL && i < run->plan.points_count; i++) {
		const char *why = run->unsupported[i];
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

static void warn_unsupported(const struct run *run, json_t *list)
{
	json_t *reasons = count_reasons(run), *found;
	const char *why;

	json_object_foreach(reasons, why, found)
	{
		json_int_t first = json_integer_value(json_array_get(found, 0));
		json_int_t count = json_integer_value(json_array_get(found, 1));
		json_t *text = json_sprintf("%" JSON_INTEGER_FORMAT " of %zu points not measured, "
					    "p%04" JSON_INTEGER_FORMAT " the first: %s",
					    count, run->plan.points_count, first, why);

		warning_append(list, "POINT_UNSUPPORTED", "warn", "both", text);
	}
	json_decref(reasons);
}

static void warn_hosts(const struct run *run, json_t *list)
{
	json_t *power = environment_power(&run->sysroot);

	warn_governor(list, "client", power);
	json_decref(power);
	warn_governor(list, "server", json_object_get(run->remote.environment, "power"));
	if (run->remote.known && run->remote.environment == NULL)
		warning_add(list, "ENVIRONMENT_INCOMPLETE", "warn", "server",
			    json_string("the server's environment is not known"));
}

json_t *warnings_make(const struct run *run, const json_t *points)
{
	json_t *list = json_array();

	warn_end(run, list);
	warn_device(run, list);
	warn_clock(run, list);
	warn_placement(run, list);
	warn_unsupported(run, list);
	warnings_of_points(run, points, list);
	warn_hosts(run, list);
	return list;
}
