/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warnings_points.c -- rules over the points of a result.
 *
 * Each looks at one point, or at one repeat of it, in the JSON the reader gets
 * too; what several points share is said once.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/histogram.h"
#include "common/base/units.h"
#include "common/json/json_path.h"
#include "point.h"
#include "warnings.h"

/* The repeat with the fewest samples of all that lack a percentile. */
struct shortage {
	const json_t *point, *repeat;
	double samples;
	size_t points;
};

static void find_fewest(const json_t *point, struct shortage *s)
{
	const json_t *repeat;
	size_t index;

	s->points++;
	json_array_foreach(json_object_get(point, "repeats"), index, repeat) {
		double samples = json_number_value(path_get(repeat, "latency/count"));

		if (!json_is_true(json_object_get(repeat, "complete")) || samples <= 0 ||
		    (s->repeat != NULL && samples >= s->samples))
			continue;
		s->point = point;
		s->repeat = repeat;
		s->samples = samples;
	}
}

static json_t *advise(const struct shortage *s, const char *name, double needed, size_t points)
{
	double longer = needed / s->samples;
	double ops = json_number_value(path_get(s->point, "stop/ops"));
	double ms = json_number_value(json_object_get(s->repeat, "elapsed_ns")) / 1e6;
	char option[64];

	if (ops > 0)
		snprintf(option, sizeof(option), "--ops %.0f", ceil(ops * longer));
	else
		snprintf(option, sizeof(option), "--duration %.0fms", ceil(ms * longer));
	return json_sprintf("%s is not known for %zu of %zu points: it needs %.0f samples in each "
			    "repeat, one of %s had %.0f: %s or more",
			    name, s->points, points, needed,
			    json_string_value(json_object_get(s->point, "id")), s->samples, option);
}

void warn_samples(const json_t *points, json_t *list)
{
	static const struct {
		const char *name, *path;
		double p;
	} rows[] = {
		{"p99.9", "summary/latency/percentiles/p=0.999/ns", 0.999},
		{"p99", "summary/latency/percentiles/p=0.99/ns", 0.99},
		{"p50", "summary/latency/percentiles/p=0.5/ns", 0.5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct shortage s = {0};
		const json_t *point;
		size_t index;

		json_array_foreach(points, index, point) {
			if (json_is_null(path_get(point, rows[i].path)))
				find_fewest(point, &s);
		}
		if (s.repeat == NULL)
			continue;
		warning_add(list, "TOO_FEW_SAMPLES", "info", "client",
			    advise(&s, rows[i].name,
				   ceil(HISTOGRAM_SAMPLES_BEYOND / (1 - rows[i].p) - 1e-6),
				   json_array_size(points)));
		return; /* what the highest needs is enough for the others */
	}
}

/* An operation of a closed loop that took this long, and this many times longer than others. */
#define STALL_NS     10000000.0
#define STALL_FACTOR 100
/* share of a core */
#define LOAD_MISSED 0.05

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The latest point of all that were late. */
static void warn_late(const json_t *points, json_t *list)
{
	const json_t *point, *worst = NULL;
	size_t index, late_points = 0;
	json_int_t late = 0;
	double lag = -1;
	char text[UNITS_TEXT_BYTES];

	json_array_foreach(points, index, point) {
		json_int_t one = path_whole(point, "summary/late_ops");
		double ns = json_number_value(path_get(point, "summary/max_lag_ns"));

		late += one;
		late_points += one > 0;
		if (one > 0 && ns > lag) {
			lag = ns;
			worst = point;
		}
	}
	if (worst != NULL)
		warning_add(list, "LATE_OPS", "warn", "client",
			    json_sprintf("%" JSON_INTEGER_FORMAT
					 " operations of %zu of %zu points began "
					 "more than a period after their planned time, in %s by up "
					 "to %s: the response latency counts that wait, the "
					 "service latency does not",
					 late, late_points, json_array_size(points),
					 path_text(worst, "id"), units_print_duration(lag, text)));
}

/* In no service latency, and beyond all samples of the response latency. */
static void warn_unbegun(const json_t *points, json_t *list)
{
	const json_t *point;
	size_t index, poor = 0;
	json_int_t unbegun = 0;

	json_array_foreach(points, index, point) {
		json_int_t one = path_whole(point, "summary/unbegun_ops");

		unbegun += one;
		poor += one > 0;
	}
	if (unbegun > 0)
		warning_add(
			list, "RATE_NOT_REACHED", "warn", "client",
			json_sprintf("%" JSON_INTEGER_FORMAT
				     " planned operations of %zu of %zu points had not begun "
				     "when twice the time had passed: the rate is beyond what "
				     "this path can do. The response latency counts them as "
				     "later than all others, the service latency leaves them out",
				     unbegun, poor, json_array_size(points)));
}

/* The repeats were used up before: their interval is what it is. */
static void warn_ci(const struct record *record, const json_t *points, json_t *list)
{
	double ci = record->options->ci;
	const json_t *point, *first = NULL;
	size_t index, wide = 0;

	if (ci <= 0 || record->status != RUN_COMPLETE)
		return;
	json_array_foreach(points, index, point) {
		if (point_is_narrow(json_object_get(point, "repeats"),
				    record_asked(record, point)->test, ci))
			continue;
		wide++;
		first = first == NULL ? point : first;
	}
	if (wide > 0)
		warning_add(
			list, "CI_NOT_REACHED", "warn", "client",
			json_sprintf("the 95 %% interval of %zu of %zu points, %s the first, is "
				     "wider than the +-%.3g %% of --ci after all their repeats",
				     wide, json_array_size(points), path_text(first, "id"),
				     ci * 100));
}

/* How many times its median a closed loop stalled; 0: it did not. */
static double stall(const json_t *point)
{
	const json_t *params = json_object_get(point, "params");
	double max = json_number_value(path_get(point, "summary/latency/max_ns"));
	double median = json_number_value(path_get(point, "summary/latency/percentiles/p=0.5/ns"));

	if (!path_is(params, "test", "lat") || median <= 0 || max < STALL_NS ||
	    max < STALL_FACTOR * median)
		return 0;
	return max / median;
}

/* A closed loop waits: what it did not start meanwhile is in no percentile. */
static void warn_stall(const json_t *points, json_t *list)
{
	const json_t *point, *worst = NULL;
	char slow[UNITS_TEXT_BYTES], usual[UNITS_TEXT_BYTES];
	size_t index, stalled = 0;
	double most = 0, max;

	json_array_foreach(points, index, point) {
		stalled += stall(point) > 0;
		if (stall(point) > most) {
			most = stall(point);
			worst = point;
		}
	}
	if (worst == NULL)
		return;
	max = json_number_value(path_get(worst, "summary/latency/max_ns"));
	warning_add(
		list, "STALL_HIDDEN", "info", "client",
		json_sprintf("%zu of %zu points stalled: in %s one operation took %s, and the "
			     "median is %s. A closed loop waits for it: about %.0f operations "
			     "that would have started meanwhile are missing, so the percentiles "
			     "hide the stall (--test rate counts from the planned time)",
			     stalled, json_array_size(points), path_text(worst, "id"),
			     units_print_duration(max, slow),
			     units_print_duration(max / most, usual),
			     most * json_number_value(path_get(worst, "params/depth"))));
}

static void warn_flagged(const json_t *point, json_t *list)
{
	const json_t *flagged = path_get(point, "summary/flagged_repeats");
	const json_t *one;
	size_t index;

	json_array_foreach(flagged, index, one) {
		const char *hint =
			json_string_value(json_array_get(json_object_get(one, "hints"), 0));

		warning_add(list, "REPEAT_FLAGGED", "info", "client",
			    json_sprintf("%s: repeat %" JSON_INTEGER_FORMAT
					 " is far from the others%s%s",
					 path_text(point, "id"), path_whole(one, "index"),
					 hint != NULL ? ": it had " : "",
					 hint != NULL ? hint : ""));
	}
}

static void warn_verify(const struct record *record, const json_t *point, const json_t *repeat,
			json_t *list)
{
	const json_t *verify = json_object_get(repeat, "verify");
	json_int_t wrong = path_whole(verify, "mismatches");
	const json_t *offset = json_object_get(verify, "first_offset");

	if (wrong > 0)
		warning_add(list, "VERIFY_MISMATCH", "warn", "server",
			    json_sprintf("%s: %" JSON_INTEGER_FORMAT " bytes of the target are not "
					 "what was written, the first at offset "
					 "%" JSON_INTEGER_FORMAT,
					 path_text(point, "id"), wrong,
					 json_integer_value(offset)));
	else if (record->options->verify && params_verifiable(record_asked(record, point)) &&
		 !json_is_object(verify))
		warning_add(list, "VERIFY_MISSING", "warn", "server",
			    json_sprintf("%s: the server did not say what its target holds",
					 path_text(point, "id")));
}

/* A check sees the last write to each slot alone. */
static void warn_overwritten(const json_t *points, json_t *list)
{
	double checked = 0, overwritten = 0;
	const json_t *point;
	size_t index;

	json_array_foreach(points, index, point) {
		const json_t *verify = path_get(point, "summary/verify");

		checked += json_number_value(json_object_get(verify, "checked_bytes"));
		overwritten += json_number_value(json_object_get(verify, "overwritten_bytes"));
	}
	if (overwritten > 0)
		warning_add(list, "VERIFY_OVERWRITTEN", "info", "server",
			    json_sprintf("%.3g %% of what was written was written over before the "
					 "check: a larger target, or --warmup 0 and fewer --ops "
					 "than it has slots, keeps all of it",
					 overwritten / (checked + overwritten) * 100));
}

/* The load of a point's repeats, mean; negative: not known of each. */
static double measured_load(const json_t *point)
{
	const json_t *repeats = json_object_get(point, "repeats"), *repeat;
	double sum = 0;
	size_t index;

	json_array_foreach(repeats, index, repeat) {
		const json_t *one = path_get(repeat, "cpu/server/load_fraction_measured");

		if (!json_is_number(one))
			return -1;
		sum += json_number_value(one);
	}
	return sum / (double)json_array_size(repeats);
}

static void warn_load(const json_t *point, json_t *list)
{
	double wanted = json_number_value(path_get(point, "params/server_load_fraction"));
	double measured = measured_load(point);

	if (wanted <= 0)
		return;
	if (measured < 0)
		warning_add(list, "SERVER_LOAD_MISSED", "warn", "server",
			    json_sprintf("%s: the server did not say how much load it made",
					 path_text(point, "id")));
	else if (fabs(measured - wanted) > LOAD_MISSED)
		warning_add(list, "SERVER_LOAD_MISSED", "warn", "server",
			    json_sprintf("%s: the load of the server's cores was %.2f, not %.2f",
					 path_text(point, "id"), measured, wanted));
}

/* Codes of another version of the server must not break the file. */
static const char *known_code(const char *code)
{
	static const char *const known[] = {
		"PIN_FAILED",	      "MEMORY_BIND_FAILED", "PIN_SHARED_CORE",
		"SERVER_LOAD_MISSED", "CLOCK_FALLBACK",	    "ENVIRONMENT_INCOMPLETE",
		"EMULATED_CPU",	      "TARGET_SHARED",	    "REVERSE_FAILED",
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
		warning_add(list, known_code(path_text(one, "code")), "warn", "server",
			    json_string(path_text(one, "text")));
}

static void count_repeat(const json_t *repeat, size_t counts[3])
{
	const json_t *latency = json_object_get(repeat, "latency");
	const json_t *histogram = json_object_get(latency, "histogram");

	counts[0]++;
	counts[1] += json_is_false(path_get(repeat, "warmup/steady"));
	counts[2] += path_whole(histogram, "saturated") > 0;
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

void warnings_of_points(const struct record *record, const json_t *points, json_t *list)
{
	const json_t *point, *repeat;
	size_t counts[3] = {0}; /* repeats, unsteady, saturated */
	size_t i, k;

	json_array_foreach(points, i, point) {
		warn_persistence(record, point, list);
		warn_flagged(point, list);
		warn_load(point, list);
		json_array_foreach(json_object_get(point, "repeats"), k, repeat) {
			warn_verify(record, point, repeat, list);
			lift_server(repeat, list);
			count_repeat(repeat, counts);
		}
	}
	warn_late(points, list);
	warn_unbegun(points, list);
	warn_ci(record, points, list);
	warn_stall(points, list);
	warn_overwritten(points, list);
	warn_counts(counts, list);
	warn_throttled(points, list);
	warn_cpu_taken(points, list);
	warn_samples(points, list);
}
