/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slo.c -- parses the gates of --slo and holds points against them.
 *
 * A metric is a row: its name, and where its figure is in the summary of a
 * point. Latencies have several figures each, so theirs are in two parts.
 */
#include "slo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common/base/cli.h"
#include "tools/common/base/failure.h"
#include "tools/common/json/json_path.h"
#include "tools/common/json/result.h"

#define METRIC_MAX 64

const char gate_metrics[] =
	"ops_per_s, bytes_per_s, late_ops, unbegun_ops, max_lag_ns, reverse.ops_per_s, "
	"reverse.bytes_per_s, verify.mismatches, or lat, read, response or reverse with .min_ns, "
	".mean_ns, .max_ns, "
	".p50_ns, .p90_ns, .p95_ns, .p99_ns, .p99.9_ns, .p99.99_ns, .p99.999_ns or .p99.9999_ns";

struct gate {
	char metric[METRIC_MAX];
	int test; /* an enum bench_test; -1: it limits all points */
	bool greater;
	bool equal;
	double limit;
};

struct place {
	const char *name;
	const char *path; /* in the summary of a point, or in a latency of it */
};

static const struct place figures[] = {
	{"ops_per_s", "ops_per_s/mean"},
	{"bytes_per_s", "bytes_per_s/mean"},
	{"late_ops", "late_ops"},
	{"unbegun_ops", "unbegun_ops"},
	{"max_lag_ns", "max_lag_ns"},
	{"reverse.ops_per_s", "reverse/ops_per_s/mean"},
	{"reverse.bytes_per_s", "reverse/bytes_per_s/mean"},
	{"verify.mismatches", "verify/mismatches"},
};

static const struct place latencies[] = {
	{"lat.", "latency"},
	{"read.", "read_latency"},
	{"response.", "response_latency"},
	{"reverse.", "reverse/latency"},
};

static const struct place of_latency[] = {
	{"min_ns", "min_ns"},
	{"mean_ns", "mean_ns/mean"},
	{"max_ns", "max_ns"},
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct place *find(const struct place *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

/* The latency a metric starts with; *rest is what follows. */
static const struct place *find_latency(const char *metric, const char **rest)
{
	for (size_t i = 0; i < COUNT(latencies); i++) {
		size_t len = strlen(latencies[i].name);

		if (strncmp(metric, latencies[i].name, len) == 0) {
			*rest = metric + len;
			return &latencies[i];
		}
	}
	return NULL;
}

/* "p99.9_ns" is the quantile 0.999; 0 if it is not one. */
static double quantile(const char *text)
{
	char name[32];

	for (size_t i = 0; i < RESULT_PERCENTILES; i++) {
		snprintf(name, sizeof(name), "p%.6g_ns", result_percentiles[i] * 100);
		if (strcmp(name, text) == 0)
			return result_percentiles[i];
	}
	return 0;
}

static bool known_metric(const char *metric)
{
	const char *rest = "";

	return find(figures, COUNT(figures), metric) != NULL ||
	       (find_latency(metric, &rest) != NULL &&
		(find(of_latency, COUNT(of_latency), rest) != NULL || quantile(rest) > 0));
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* A decimal number and nothing else: no inf, no nan, no hexadecimal. */
static bool parse_number(const char *text, double *value)
{
	char *end;

	text = skip_blanks(text);
	if (text[0] == '\0' || text[strspn(text, "0123456789.eE+- \t")] != '\0')
		return false;
	errno = 0;
	*value = strtod(text, &end);
	return end != text && *skip_blanks(end) == '\0' && isfinite(*value);
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit counts[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {NULL, 0}};

/* The factor of a unit with nothing but blanks behind it; 0: it is none of these. */
static double factor_of(const char *text, const struct unit *units)
{
	for (; units->name != NULL; units++) {
		size_t len = strlen(units->name);

		if (strncmp(text, units->name, len) == 0 && *skip_blanks(text + len) == '\0')
			return units->factor;
	}
	return 0;
}

/* The limit of a metric whose name has no unit: "20us" for lat.p99.9, which is lat.p99.9_ns. */
static bool parse_with_unit(const char *text, size_t len, struct gate *gate)
{
	const bool is_time = !known_metric(gate->metric);
	const double factor = factor_of(text + len, is_time ? times : counts);
	char number[METRIC_MAX];

	if (factor == 0 || len >= sizeof(number) ||
	    (!is_time && strstr(gate->metric, "_ns") != NULL))
		return false;
	if (is_time)
		strncat(gate->metric, "_ns", sizeof(gate->metric) - strlen(gate->metric) - 1);
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (!parse_number(number, &gate->limit))
		return false;
	gate->limit *= factor;
	return isfinite(gate->limit);
}

/* "bw:" before the metric; an unknown test is -2. Gives what follows. */
static const char *parse_test(const char *text, struct gate *gate)
{
	size_t len = strcspn(text, ":<>");

	gate->test = -1;
	if (text[len] != ':')
		return text;
	gate->test = -2;
	for (int test = 0; params_tests[test] != NULL; test++) {
		if (strlen(params_tests[test]) == len &&
		    strncmp(params_tests[test], text, len) == 0)
			gate->test = test;
	}
	return text + len + 1;
}

static bool parse(const char *whole, struct gate *gate)
{
	const char *text = parse_test(skip_blanks(whole), gate);
	size_t len = strcspn(text, "<>");
	const char *at = text + len;

	text = skip_blanks(text);
	len = (size_t)(at - text);
	while (len > 0 && strchr(" \t", text[len - 1]) != NULL)
		len--;
	if (*at == '\0' || len >= sizeof(gate->metric))
		return false;
	snprintf(gate->metric, sizeof(gate->metric), "%.*s", (int)len, text);
	gate->greater = *at++ == '>';
	gate->equal = *at == '=';
	at += gate->equal;
	len = strcspn(at, "kMGnums"); /* what a unit begins with */
	return at[len] == '\0' ? parse_number(at, &gate->limit) : parse_with_unit(at, len, gate);
}

static int unknown_test(const char *text)
{
	const char *word = skip_blanks(text);
	int length = (int)strcspn(word, ":");
	const char *near = cli_nearest(word, (size_t)length, params_tests);

	return failure_set(EXIT_WRONG_USAGE, "options",
			   "--slo %s: no test %.*s: expected lat, bw, rate, mix, connect or "
			   "register before the colon%s%s%s",
			   text, length, word, near != NULL ? " (did you mean " : "",
			   near != NULL ? near : "", near != NULL ? "?)" : "");
}

/* What was probably meant: a time without its unit, or a figure without its latency. */
static int unknown_metric(const char *text, const char *metric)
{
	const char *after = strchr(text, ':') != NULL ? strchr(text, ':') + 1 : text;
	char whole[METRIC_MAX + sizeof("lat._ns")];

	snprintf(whole, sizeof(whole), "%s_ns", metric);
	if (known_metric(whole))
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--slo %s: expected a limit with a unit: ns, us, ms or s", text);
	snprintf(whole, sizeof(whole), "lat.%s", metric);
	if (known_metric(whole))
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--slo %s: expected lat, read, response or reverse before the "
				   "figure (did you mean %.*slat.%s?)",
				   text, (int)(after - text), text, skip_blanks(after));
	return failure_set(EXIT_WRONG_USAGE, "options", "--slo %s: no metric %s: expected %s", text,
			   metric, gate_metrics);
}

bool gate_is_time(const char *text)
{
	struct gate gate;

	return parse(text, &gate) && strstr(gate.metric, "_ns") != NULL;
}

int gate_check(const char *text)
{
	struct gate gate;
	bool good = parse(text, &gate);

	if (gate.test == -2)
		return unknown_test(text);
	if (!good)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--slo %s: expected METRIC<LIMIT (or <=, >, >=), such as "
				   "lat.p99.9<5us, ops_per_s>=100k or, for the points of a test, "
				   "bw:bytes_per_s>1G",
				   text);
	if (!known_metric(gate.metric))
		return unknown_metric(text, gate.metric);
	return 0;
}

/* Not a number for what the summary does not know. */
static double figure_of(const json_t *summary, const char *metric)
{
	const struct place *place = find(figures, COUNT(figures), metric);
	const char *rest = "";
	const json_t *value;
	char path[METRIC_MAX];

	if (place != NULL) {
		value = path_get(summary, place->path);
	} else {
		value = path_get(summary, find_latency(metric, &rest)->path);
		place = find(of_latency, COUNT(of_latency), rest);
		snprintf(path, sizeof(path), "percentiles/p=%.15g/ns", quantile(rest));
		value = path_get(value, place != NULL ? place->path : path);
	}
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool has_complete(const json_t *point)
{
	const json_t *repeat;
	size_t index;

	json_array_foreach(json_object_get(point, "repeats"), index, repeat)
	{
		if (json_is_true(json_object_get(repeat, "complete")))
			return true;
	}
	return false;
}

/* Comparisons with what is unknown are false: it misses. */
static bool holds(const struct gate *gate, double value)
{
	if (isnan(value))
		return false;
	if (value == gate->limit)
		return gate->equal;
	return gate->greater ? value > gate->limit : value < gate->limit;
}

enum gate_verdict gate_of_point(const char *text, const json_t *point, double *value)
{
	struct gate gate;

	*value = NAN;
	if (!parse(text, &gate) || !has_complete(point))
		return GATE_UNKNOWN;
	*value = figure_of(json_object_get(point, "summary"), gate.metric);
	if (isnan(*value))
		return GATE_UNKNOWN;
	return holds(&gate, *value) ? GATE_KEPT : GATE_MISSED;
}

double gate_quantile(const char *text)
{
	const char *rest = "";
	struct gate gate;

	if (!parse(text, &gate) || find_latency(gate.metric, &rest) == NULL)
		return 0;
	return quantile(rest);
}

bool gate_applies(const char *text, enum bench_test test)
{
	struct gate gate;

	return parse(text, &gate) && (gate.test < 0 || gate.test == (int)test);
}

bool gate_fits(const char *text, enum bench_test test)
{
	struct gate gate;

	if (!parse(text, &gate))
		return false;
	if (strncmp(gate.metric, "read.", 5) == 0)
		return test == BENCH_MIX;
	if (strncmp(gate.metric, "reverse.", 8) == 0)
		return test == BENCH_LAT || test == BENCH_BW;
	return true;
}

/*
 * A point of another test is not missed, so that older readers, which ask for all points and
 * what follows from them, read the file.
 */
static json_t *judge_point(const struct gate *gate, const json_t *point, bool *missed)
{
	const json_t *summary = json_object_get(point, "summary");
	double value = has_complete(point) ? figure_of(summary, gate->metric) : NAN;
	bool held = holds(gate, value);

	if (gate->test >= 0 && !path_is(point, "params/test", params_tests[gate->test]))
		return json_pack("{s:O, s:n, s:b, s:b}", "id", json_object_get(point, "id"),
				 "value", "missed", false, "applies", false);
	*missed |= !held;
	return json_pack("{s:O, s:o, s:b}", "id", json_object_get(point, "id"), "value",
			 result_real(value), "missed", !held);
}

json_t *gates_judge(const char *const *texts, size_t count, const json_t *points, bool *missed)
{
	json_t *list = json_array();
	const json_t *point;
	size_t index;

	*missed = false;
	for (size_t i = 0; i < count; i++) {
		json_t *judged = json_array();
		bool one = json_array_size(points) == 0;
		struct gate gate;

		if (!parse(texts[i], &gate)) /* gate_check() was asked before */
			one = true;
		else
			json_array_foreach(points, index, point)
				json_array_append_new(judged, judge_point(&gate, point, &one));
		json_array_append_new(list, json_pack("{s:s, s:b, s:o}", "gate", texts[i], "missed",
						      one, "points", judged));
		*missed |= one;
	}
	return list;
}
