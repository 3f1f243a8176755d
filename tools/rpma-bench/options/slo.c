/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slo.c -- parses the SLOs of --slo and holds points against them.
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

#include "common/base/cli.h"
#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "common/json/result.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

#define METRIC_MAX	64

#define NAME(name, ...) #name
#define COUNT_NAMES	PLAIN_COUNT_ROWS(NAME, ", ")

const char slo_metrics[] =
	"ops_per_s, bytes_per_s, " COUNT_NAMES ", verify.mismatches, reverse.ops_per_s, "
	"reverse.bytes_per_s, or lat, read, response or reverse with .min_ns, .mean_ns, .max_ns, "
	".p50_ns, .p90_ns, .p95_ns, .p99_ns, .p99.9_ns, .p99.99_ns, .p99.999_ns or .p99.9999_ns";

struct slo {
	char metric[METRIC_MAX];
	int test; /* an enum bench_test; -1: it limits all points */
	bool greater;
	bool equal;
	double limit;
};

struct metric {
	const char *name;
	const char *path;      /* in the summary of a point, or in a latency of it */
	const char *of_repeat; /* where each repeat has its own */
};

#define COUNT_METRIC(metric_, ...)                                                                 \
	{                                                                                          \
		.name = #metric_, .path = #metric_, .of_repeat = #metric_                          \
	}

static const struct metric figures[] = {
	{"ops_per_s", "ops_per_s/mean", "ops_per_s"},
	{"bytes_per_s", "bytes_per_s/mean", "bytes_per_s"},
	PLAIN_COUNT_ROWS(COUNT_METRIC, PLAIN_COUNT_COMMA),
	{"verify.mismatches", "verify/mismatches", "verify/mismatches"},
	{"reverse.ops_per_s", "reverse/ops_per_s/mean", "reverse/ops_per_s"},
	{"reverse.bytes_per_s", "reverse/bytes_per_s/mean", "reverse/bytes_per_s"},
};

static const struct metric latencies[] = {
	{"lat.", "latency", "latency/count"},
	{"read.", "read_latency", "read_latency/count"},
	{"response.", "response_latency", "response_latency/count"},
	{"reverse.", "reverse/latency", "reverse/latency/count"},
};

static const struct metric of_latency[] = {
	{"min_ns", "min_ns", NULL},
	{"mean_ns", "mean_ns/mean", NULL},
	{"max_ns", "max_ns", NULL},
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct metric *find(const struct metric *rows, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	}
	return NULL;
}

/* The latency a metric starts with; *rest is what follows. */
static const struct metric *find_latency(const char *metric, const char **rest)
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
static bool parse_with_unit(const char *text, size_t len, struct slo *slo)
{
	const bool is_time = !known_metric(slo->metric);
	const double factor = factor_of(text + len, is_time ? times : counts);
	char number[METRIC_MAX];

	if (factor == 0 || len >= sizeof(number) ||
	    (!is_time && strstr(slo->metric, "_ns") != NULL))
		return false;
	if (is_time)
		strncat(slo->metric, "_ns", sizeof(slo->metric) - strlen(slo->metric) - 1);
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (!parse_number(number, &slo->limit))
		return false;
	slo->limit *= factor;
	return isfinite(slo->limit);
}

/* "bw:" before the metric; an unknown test is -2. Gives what follows. */
static const char *parse_test(const char *text, struct slo *slo)
{
	size_t len = strcspn(text, ":<>");

	slo->test = -1;
	if (text[len] != ':')
		return text;
	slo->test = -2;
	for (int test = 0; params_tests[test] != NULL; test++) {
		if (strlen(params_tests[test]) == len &&
		    strncmp(params_tests[test], text, len) == 0)
			slo->test = test;
	}
	return text + len + 1;
}

static bool parse(const char *whole, struct slo *slo)
{
	const char *text = parse_test(skip_blanks(whole), slo);
	size_t len = strcspn(text, "<>");
	const char *at = text + len;

	text = skip_blanks(text);
	len = (size_t)(at - text);
	while (len > 0 && strchr(" \t", text[len - 1]) != NULL)
		len--;
	if (*at == '\0' || len >= sizeof(slo->metric))
		return false;
	snprintf(slo->metric, sizeof(slo->metric), "%.*s", (int)len, text);
	slo->greater = *at++ == '>';
	slo->equal = *at == '=';
	at += slo->equal;
	len = strcspn(at, "kMGnums"); /* what a unit begins with */
	return at[len] == '\0' ? parse_number(at, &slo->limit) : parse_with_unit(at, len, slo);
}

static int unknown_test(const char *text)
{
	const char *word = skip_blanks(text);
	int length = (int)strcspn(word, ":");
	const char *near = cli_nearest(word, (size_t)length, params_tests);

	return failure_usage("--slo %s: no test %.*s: expected lat, bw, rate, mix, connect or "
			     "register before the colon%s%s%s",
			     text, length, word, near != NULL ? " (did you mean " : "",
			     near != NULL ? near : "", near != NULL ? "?)" : "");
}

/* Suggests what was probably meant: a time without its unit, or a figure without its latency. */
static int unknown_metric(const char *text, const char *metric)
{
	const char *after = strchr(text, ':') != NULL ? strchr(text, ':') + 1 : text;
	char whole[METRIC_MAX + sizeof("lat._ns")];

	snprintf(whole, sizeof(whole), "%s_ns", metric);
	if (known_metric(whole))
		return failure_usage("--slo %s: expected a limit with a unit: ns, us, ms or s",
				     text);
	snprintf(whole, sizeof(whole), "lat.%s", metric);
	if (known_metric(whole))
		return failure_usage("--slo %s: expected lat, read, response or reverse before the "
				     "figure (did you mean %.*slat.%s?)",
				     text, (int)(after - text), text, skip_blanks(after));
	return failure_usage("--slo %s: no metric %s: expected %s", text, metric, slo_metrics);
}

bool slo_is_time(const char *text)
{
	struct slo slo;

	return parse(text, &slo) && strstr(slo.metric, "_ns") != NULL;
}

int slo_check(const char *text)
{
	struct slo slo;
	bool good = parse(text, &slo);

	if (slo.test == -2)
		return unknown_test(text);
	if (!good)
		return failure_usage(
			"--slo %s: expected METRIC<LIMIT (or <=, >, >=), such as lat.p99.9<5us, "
			"ops_per_s>=100k or, for the points of a test, bw:bytes_per_s>1G",
			text);
	if (!known_metric(slo.metric))
		return unknown_metric(text, slo.metric);
	return 0;
}

/* Not a number for what the summary does not know. */
static double figure_of(const json_t *summary, const char *metric)
{
	const struct metric *row = find(figures, COUNT(figures), metric);
	const char *rest = "";
	const json_t *value;
	char path[METRIC_MAX];

	if (row != NULL) {
		value = path_get(summary, row->path);
	} else {
		value = path_get(summary, find_latency(metric, &rest)->path);
		row = find(of_latency, COUNT(of_latency), rest);
		snprintf(path, sizeof(path), "percentiles/p=%.15g/ns", quantile(rest));
		value = path_get(value, row != NULL ? row->path : path);
	}
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Does the value keep the limit? */
static bool holds(const struct slo *slo, double value)
{
	if (value == slo->limit)
		return slo->equal;
	return slo->greater ? value > slo->limit : value < slo->limit;
}

static bool is_complete(const json_t *repeat)
{
	return json_is_true(json_object_get(repeat, "complete"));
}

static bool has_complete(const json_t *point)
{
	const json_t *repeat;
	size_t index;

	json_array_foreach(json_object_get(point, "repeats"), index, repeat) {
		if (is_complete(repeat))
			return true;
	}
	return false;
}

/* Has each complete repeat the figure? */
static bool all_have(const json_t *point, const char *path)
{
	const json_t *repeat;
	size_t index;

	json_array_foreach(json_object_get(point, "repeats"), index, repeat) {
		if (is_complete(repeat) && !json_is_number(path_get(repeat, path)))
			return false;
	}
	return true;
}

/* How much of the plan a figure of the summary covers. */
enum cover {
	WHOLE,
	AT_LEAST, /* what it leaves out can only make it larger */
	PART,	  /* what it leaves out can be anything */
};

static enum cover cover_of(const struct slo *slo, const json_t *point)
{
	bool unbegun = path_whole(point, "summary/unbegun_ops") > 0;
	const struct metric *figure = find(figures, COUNT(figures), slo->metric);
	const char *rest = "";

	if (figure == NULL) {
		const struct metric *latency = find_latency(slo->metric, &rest);
		/* the response latency counts them itself */
		bool blind = unbegun && strcmp(latency->name, "response.") != 0;

		return blind || !all_have(point, latency->of_repeat) ? PART : WHOLE;
	}
	if (!all_have(point, figure->of_repeat))
		return strcmp(slo->metric, "verify.mismatches") == 0 ? AT_LEAST : PART;
	if (unbegun &&
	    (strcmp(figure->name, "late_ops") == 0 || strcmp(figure->name, "max_lag_ns") == 0))
		return AT_LEAST;
	return WHOLE;
}

/*
 * A lower bound of an unknown figure of a latency: the largest known quantile below it,
 * and for the response the time of the plan, as what was never begun waited that long.
 */
static double least_of(const json_t *point, const char *metric)
{
	const char *rest = "";
	const struct metric *row = find_latency(metric, &rest);
	const json_t *latency = row != NULL ? path_get(json_object_get(point, "summary"), row->path)
					    : NULL,
		     *one;
	const json_t *plan_ns = path_get(point, "stop/duration_ns");
	double p = strcmp(rest, "max_ns") == 0 ? 1 : quantile(rest);
	double least = NAN;
	size_t index;

	if (p > 0 && path_whole(latency, "unbegun_ops") > 0 && json_is_number(plan_ns))
		least = json_number_value(plan_ns);
	json_array_foreach(json_object_get(latency, "percentiles"), index, one) {
		const json_t *ns = json_object_get(one, "ns");

		if (json_is_number(ns) && json_number_value(json_object_get(one, "p")) < p)
			least = fmax(least, json_number_value(ns));
	}
	return least;
}

static enum slo_verdict judge(const struct slo *slo, const json_t *point, double *value)
{
	const json_t *summary = json_object_get(point, "summary");
	enum cover cover = cover_of(slo, point);
	double known;

	*value = has_complete(point) ? figure_of(summary, slo->metric) : NAN;
	known = *value;
	if (isnan(known) && has_complete(point)) {
		known = least_of(point, slo->metric);
		cover = cover == WHOLE ? AT_LEAST : cover;
	}
	if (isnan(known) || cover == PART)
		return SLO_UNKNOWN;
	if (cover == AT_LEAST && holds(slo, known) != slo->greater)
		return SLO_UNKNOWN;
	return holds(slo, known) ? SLO_KEPT : SLO_MISSED;
}

enum slo_verdict slo_of_point(const char *text, const json_t *point, double *value)
{
	struct slo slo;

	*value = NAN;
	return parse(text, &slo) ? judge(&slo, point, value) : SLO_UNKNOWN;
}

double slo_quantile(const char *text)
{
	const char *rest = "";
	struct slo slo;

	if (!parse(text, &slo) || find_latency(slo.metric, &rest) == NULL)
		return 0;
	return quantile(rest);
}

bool slo_applies(const char *text, enum bench_test test)
{
	struct slo slo;

	return parse(text, &slo) && (slo.test < 0 || slo.test == (int)test);
}

bool slo_fits(const char *text, enum bench_test test)
{
	struct slo slo;

	if (!parse(text, &slo))
		return false;
	if (strncmp(slo.metric, "read.", 5) == 0)
		return test == BENCH_MIX;
	if (strncmp(slo.metric, "reverse.", 8) == 0)
		return test == BENCH_LAT || test == BENCH_BW;
	return true;
}

static json_t *missed_json(enum slo_verdict verdict)
{
	return verdict == SLO_UNKNOWN ? json_null() : json_boolean(verdict == SLO_MISSED);
}

/* One that is missed is more than one that is not known, that more than one that is kept. */
static enum slo_verdict worse(enum slo_verdict a, enum slo_verdict b)
{
	return a == SLO_MISSED || b == SLO_KEPT ? a : b;
}

/*
 * A point of another test is not missed, so that older readers, which ask for all points and
 * what follows from them, read the file.
 */
static json_t *judge_point(const struct slo *slo, const json_t *point, enum slo_verdict *verdict)
{
	double value;

	if (slo->test >= 0 && !path_is(point, "params/test", params_tests[slo->test])) {
		*verdict = SLO_KEPT;
		return json_pack("{s:O, s:n, s:b, s:b}", "id", json_object_get(point, "id"),
				 "value", "missed", false, "applies", false);
	}
	*verdict = judge(slo, point, &value);
	return json_pack("{s:O, s:o, s:o}", "id", json_object_get(point, "id"), "value",
			 result_real(value), "missed", missed_json(*verdict));
}

/* Over all points that it limits; without any it is not known. */
static json_t *judge_points(const char *text, const json_t *points, enum slo_verdict *all)
{
	json_t *list = json_array(), *judged;
	struct slo slo;
	bool parsed = parse(text, &slo); /* slo_check() was asked before */
	enum slo_verdict one;
	const json_t *point;
	size_t index, applies = 0;

	*all = SLO_KEPT;
	json_array_foreach(points, index, point) {
		if (!parsed)
			break;
		judged = judge_point(&slo, point, &one);
		applies += json_object_get(judged, "applies") == NULL;
		json_array_append_new(list, judged);
		*all = worse(*all, one);
	}
	*all = applies > 0 ? *all : SLO_UNKNOWN;
	return list;
}

json_t *slos_judge(const char *const *texts, size_t count, const json_t *points,
		   enum slo_verdict *verdict)
{
	json_t *list = json_array(), *judged;
	enum slo_verdict one;

	*verdict = SLO_KEPT;
	for (size_t i = 0; i < count; i++) {
		judged = judge_points(texts[i], points, &one);
		json_array_append_new(list, json_pack("{s:s, s:o, s:o}", "slo", texts[i], "missed",
						      missed_json(one), "points", judged));
		*verdict = worse(*verdict, one);
	}
	return list;
}
