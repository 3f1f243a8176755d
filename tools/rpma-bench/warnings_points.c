/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_points.c -- rules over the points of a result.
 *
 * Each looks at one point, or at one repeat of it, in the JSON the reader gets
 * too; what several points share is said once.
 */
#include "warnings_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/units.h"

/* An operation of a closed loop that took so long, and so much longer than others. */
#define STALL_NS     10000000.0
#define STALL_FACTOR 100
/* of a core */
#define LOAD_MISSED 0.05

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

static bool is(const json_t *object, const char *key, const char *word)
{
	return strcmp(text_of(object, key), word) == 0;
}

static bool is_pmem(const char *kind)
{
	return strcmp(kind, "devdax") == 0 || strcmp(kind, "fsdax") == 0;
}

/* Nothing was checked: the word of the operator is all there is. */
static void warn_persistence(const json_t *point, json_t *list)
{
	const json_t *params = json_object_get(point, "params");
	const char *kind = text_of(json_object_get(params, "target_memory"), "kind");
	bool answered = is(params, "persist", "gpspm") || is(params, "persist", "gpspm-rt");

	if (is(params, "persist", "none"))
		return;
	if (!is_pmem(kind))
		warning_add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
			    json_sprintf("the target is %s: a flush to it makes nothing persistent",
					 kind));
	else if (answered)
		warning_add(list, "PERSISTENCE_UNPROVEN", "info", "server",
			    json_string("the server's processor wrote the data back before it "
					"answered: what the platform saves on a power failure was "
					"not checked"));
	else if (!is(params, "flush", "persistent"))
		warning_add(list, "PERSISTENCE_UNPROVEN", "warn", "server",
			    json_string("the flush made data visible, not persistent: the server "
					"was not started with --direct-write-to-pmem, or its "
					"device refuses persistent flushes"));
	else
		warning_add(list, "PERSISTENCE_UNPROVEN", "info", "server",
			    json_string("persistence rests on the statement --direct-write-to-pmem "
					"of the server's operator: the platform was not checked"));
}

static void warn_chosen(const struct run *run, const json_t *point, json_t *list)
{
	size_t index = strtoul(text_of(point, "id") + 1, NULL, 10);
	const struct persist_choice *choice;
	const struct params *asked;

	if (index >= run->plan.points_count)
		return;
	asked = &run->plan.points[index];
	choice = &run->chosen[run->targets[asked->target]];
	if (asked->persist == BENCH_AUTO && choice->made)
		warning_add(list, "PERSIST_CHOSEN", "info", "client",
			    json_sprintf("--persist auto chose %s: %s",
					 params_persists[choice->persist], choice->reason));
}

static void warn_late(const json_t *point, json_t *list)
{
	const json_t *summary = json_object_get(point, "summary");
	json_int_t late = json_integer_value(json_object_get(summary, "late_ops"));
	const json_t *lag = json_object_get(summary, "max_lag_ns");
	char text[UNITS_TEXT_BYTES];

	if (late > 0)
		warning_add(list, "LATE_OPS", "warn", "client",
			    json_sprintf("%s: %" JSON_INTEGER_FORMAT " operations began more than "
					 "a period after their planned time, by up to %s: the "
					 "response latency counts that wait, the service latency "
					 "does not",
					 text_of(point, "id"), late,
					 units_print_duration(json_number_value(lag), text)));
}

static double median_ns(const json_t *latency)
{
	const json_t *first = json_array_get(json_object_get(latency, "percentiles"), 0);

	return json_number_value(json_object_get(first, "ns"));
}

/* A closed loop waits with the target: what it did not ask then is in no percentile. */
static void warn_stall(const json_t *point, json_t *list)
{
	const json_t *params = json_object_get(point, "params");
	const json_t *latency = json_object_get(json_object_get(point, "summary"), "latency");
	double max = json_number_value(json_object_get(latency, "max_ns"));
	double median = median_ns(latency);
	char slow[UNITS_TEXT_BYTES], usual[UNITS_TEXT_BYTES];

	if (!is(params, "mode", "closed") || is(params, "test", "connect") ||
	    is(params, "test", "register") || median <= 0 || max < STALL_NS ||
	    max < STALL_FACTOR * median)
		return;
	warning_add(list, "STALL_HIDDEN", "info", "client",
		    json_sprintf("%s: one operation took %s where the median is %s. A closed loop "
				 "waits with the target: the about %.0f operations it would have "
				 "begun meanwhile are missing, so the percentiles hide the stall "
				 "(--test rate counts from the planned time)",
				 text_of(point, "id"), units_print_duration(max, slow),
				 units_print_duration(median, usual), max / median));
}

static void warn_flagged(const json_t *point, json_t *list)
{
	const json_t *flagged =
		json_object_get(json_object_get(point, "summary"), "flagged_repeats");
	const json_t *one;
	size_t index;

	json_array_foreach(flagged, index, one)
	{
		const char *hint =
			json_string_value(json_array_get(json_object_get(one, "hints"), 0));

		warning_add(list, "REPEAT_FLAGGED", "info", "client",
			    json_sprintf("%s: repeat %" JSON_INTEGER_FORMAT
					 " is far from the others%s%s",
					 text_of(point, "id"),
					 json_integer_value(json_object_get(one, "index")),
					 hint != NULL ? ": it had " : "",
					 hint != NULL ? hint : ""));
	}
}

static void warn_verify(const struct run *run, const json_t *point, const json_t *repeat,
			json_t *list)
{
	const json_t *verify = json_object_get(repeat, "verify");
	json_int_t wrong = json_integer_value(json_object_get(verify, "mismatches"));
	const json_t *offset = json_object_get(verify, "first_offset");
	const json_t *params = json_object_get(point, "params");
	bool writes = is(params, "op", "write") || is(params, "op", "write-imm") ||
		      is(params, "op", "atomic-write");

	if (wrong > 0)
		warning_add(list, "VERIFY_MISMATCH", "warn", "server",
			    json_sprintf("%s: %" JSON_INTEGER_FORMAT " bytes of the target are not "
					 "what was written, the first at offset "
					 "%" JSON_INTEGER_FORMAT,
					 text_of(point, "id"), wrong, json_integer_value(offset)));
	else if (run->options->verify && writes && !json_is_object(verify))
		warning_add(list, "VERIFY_MISSING", "warn", "server",
			    json_sprintf("%s: the server did not say what its target holds",
					 text_of(point, "id")));
}

static void warn_load(const json_t *point, const json_t *repeat, json_t *list)
{
	const json_t *server = json_object_get(json_object_get(repeat, "cpu"), "server");
	const json_t *measured = json_object_get(server, "load_fraction_measured");
	double wanted = json_number_value(
		json_object_get(json_object_get(point, "params"), "server_load_fraction"));

	if (wanted <= 0)
		return;
	if (!json_is_number(measured))
		warning_add(list, "SERVER_LOAD_MISSED", "warn", "server",
			    json_sprintf("%s: the server did not say how much load it made",
					 text_of(point, "id")));
	else if (fabs(json_number_value(measured) - wanted) > LOAD_MISSED)
		warning_add(list, "SERVER_LOAD_MISSED", "warn", "server",
			    json_sprintf("%s: the load of the server's cores was %.2f, not %.2f",
					 text_of(point, "id"), json_number_value(measured),
					 wanted));
}

/* Codes of another version of the server must not break the file. */
static const char *known_code(const char *code)
{
	static const char *const known[] = {
		"PIN_FAILED",	  "MEMORY_BIND_FAILED",	    "PIN_SHARED_CORE", "SERVER_LOAD_MISSED",
		"CLOCK_FALLBACK", "ENVIRONMENT_INCOMPLETE", "EMULATED_CPU",
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		if (strcmp(known[i], code) == 0)
			return known[i];
	}
	return "SERVER_WARNING";
}

static void lift_server(const json_t *repeat, json_t *list)
{
	const json_t *one;
	size_t index;

	json_array_foreach(json_object_get(repeat, "warnings"), index, one)
		warning_add(list, known_code(text_of(one, "code")), "warn", "server",
			    json_string(text_of(one, "text")));
}

static void count_repeat(const json_t *repeat, size_t counts[3])
{
	const json_t *latency = json_object_get(repeat, "latency");
	const json_t *histogram = json_object_get(latency, "histogram");

	counts[0]++;
	counts[1] += json_is_false(json_object_get(json_object_get(repeat, "warmup"), "steady"));
	counts[2] += json_integer_value(json_object_get(histogram, "saturated")) > 0;
}

static void warn_counts(const size_t counts[3], json_t *list)
{
	if (counts[1] > 0)
		warning_add(list, "NOT_STEADY", "warn", "client",
			    json_sprintf("the rate was not steady at the end of %zu of %zu "
					 "warm-ups",
					 counts[1], counts[0]));
	if (counts[2] > 0)
		warning_add(list, "HISTOGRAM_SATURATED", "warn", "client",
			    json_sprintf("%zu repeats have samples beyond the histogram's 68 s",
					 counts[2]));
}

void warnings_of_points(const struct run *run, const json_t *points, json_t *list)
{
	const json_t *point, *repeat;
	size_t counts[3] = {0}; /* repeats, unsteady, saturated */
	size_t i, k;

	json_array_foreach(points, i, point)
	{
		warn_persistence(point, list);
		warn_chosen(run, point, list);
		warn_late(point, list);
		warn_stall(point, list);
		warn_flagged(point, list);
		json_array_foreach(json_object_get(point, "repeats"), k, repeat)
		{
			warn_verify(run, point, repeat, list);
			warn_load(point, repeat, list);
			lift_server(repeat, list);
			count_repeat(repeat, counts);
		}
	}
	warn_counts(counts, list);
}
