/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * outlier_hints.c -- compares what kernel and device counted during one repeat with
 * the other repeats of its point.
 */
#include "outlier_hints.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/json/json_path.h"
#include "summary.h"

static void add_threads(json_t *counts, const json_t *repeat)
{
	static const char *const keys[] = {"vol_switches", "invol_switches", "minor_faults",
					   "major_faults"};
	const json_t *thread;
	size_t index;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_int_t sum = 0;
		char name[64];

		json_array_foreach(json_object_get(repeat, "threads"), index, thread) sum +=
			path_whole(thread, keys[i]);
		snprintf(name, sizeof(name), "client.%s", keys[i]);
		json_object_set_new(counts, name, json_integer(sum));
	}
}

static void add_counters(json_t *counts, const json_t *repeat, const char *host)
{
	json_t *counters = json_object_get(json_object_get(repeat, "counters"), host), *value;
	const char *key;
	char name[600];

	json_object_foreach(counters, key, value)
	{
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

json_t *outlier_hints(const json_t *const *repeats, size_t count, size_t index)
{
	json_t **all = calloc(count, sizeof(*all)), *hints = json_array(), *value;
	double *room = calloc(count, sizeof(*room));
	const char *key;

	for (size_t i = 0; all != NULL && i < count; i++)
		all[i] = counts_of(repeats[i]);
	if (all != NULL && room != NULL)
		json_object_foreach(all[index], key, value)
		{
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
