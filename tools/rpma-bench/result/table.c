/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c -- the result for people: one line per point, on stderr.
 *
 * Points that differ in nothing but the first columns share a table; each test
 * has the columns that matter for it. All is read from the document: the file
 * and the terminal show the same.
 */
#include "table.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tools/common/base/units.h"
#include "tools/common/json/json_path.h"

#define CELL_MAX 40

enum format { SIZE, WHOLE, DURATION, GIGA, GIGABITS, SPREAD };

/* A figure of a point. */
struct column {
	const char *title;
	int width;
	enum format format;
	const char *path;
};

#define PLACE                                                                                      \
	{"size", 9, SIZE, "params/size_bytes"}, {"depth", 5, WHOLE, "params/depth"},               \
		{"threads", 7, WHOLE, "params/threads"},                                           \
	{                                                                                          \
		"conns", 5, WHOLE, "params/connections"                                            \
	}
#define REPEATS                                                                                    \
	{                                                                                          \
		"n", 3, WHOLE, "summary/n"                                                         \
	}
#define QUANTILE(title, p, latency)                                                                \
	{                                                                                          \
		title, 10, DURATION, "summary/" latency "/percentiles/p=" p "/ns"                  \
	}
#define SAMPLES                                                                                    \
	{"min", 10, DURATION, "summary/latency/min_ns"}, QUANTILE("p50", "0.5", "latency"),        \
		QUANTILE("p99", "0.99", "latency"), QUANTILE("p99.9", "0.999", "latency"),         \
	{                                                                                          \
		"max", 10, DURATION, "summary/latency/max_ns"                                      \
	}
#define RATE                                                                                       \
	{"ops/s", 11, WHOLE, "summary/ops_per_s/mean"},                                            \
	{                                                                                          \
		"+- 95%", 8, SPREAD, "summary/ops_per_s"                                           \
	}
#define BYTES                                                                                      \
	{"GB/s", 9, GIGA, "summary/bytes_per_s/mean"},                                             \
	{                                                                                          \
		"Gbit/s", 9, GIGABITS, "summary/bytes_per_s/mean"                                  \
	}
#define STEP(name)                                                                                 \
	{                                                                                          \
		name, 11, DURATION, "summary/steps/name=" name "/latency/mean_ns/mean"             \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, WHOLE, NULL                                                               \
	}

static const struct column one_way[] = {PLACE, REPEATS, SAMPLES, RATE, BYTES, END};
static const struct column both_ways[] = {
	PLACE,
	REPEATS,
	SAMPLES,
	RATE,
	BYTES,
	QUANTILE("back p50", "0.5", "reverse/latency"),
	QUANTILE("back p99", "0.99", "reverse/latency"),
	{"back GB/s", 9, GIGA, "summary/reverse/bytes_per_s/mean"},
	END};
static const struct column rate[] = {PLACE,
				     {"planned/s", 10, WHOLE, "params/target_rate_per_s"},
				     REPEATS,
				     SAMPLES,
				     QUANTILE("resp p50", "0.5", "response_latency"),
				     QUANTILE("resp p99", "0.99", "response_latency"),
				     {"resp max", 10, DURATION, "summary/response_latency/max_ns"},
				     {"late", 8, WHOLE, "summary/late_ops"},
				     {"unbegun", 8, WHOLE, "summary/unbegun_ops"},
				     RATE,
				     END};
static const struct column mix[] = {PLACE,
				    {"reads", 5, WHOLE, "params/read_fraction"},
				    REPEATS,
				    SAMPLES,
				    QUANTILE("read p50", "0.5", "read_latency"),
				    QUANTILE("read p99", "0.99", "read_latency"),
				    RATE,
				    BYTES,
				    END};
static const struct column connect[] = {
	REPEATS, SAMPLES, STEP("prepare"), STEP("establish"), STEP("disconnect"), STEP("delete"),
	RATE,	 END};
static const struct column registration[] = {
	{"size", 9, SIZE, "params/size_bytes"}, REPEATS, SAMPLES, STEP("deregister"), RATE, END};

static const struct column *columns_of(const json_t *point)
{
	if (path_is(point, "params/test", "rate"))
		return rate;
	if (path_is(point, "params/test", "mix"))
		return mix;
	if (path_is(point, "params/test", "connect"))
		return connect;
	if (path_is(point, "params/test", "register"))
		return registration;
	return json_is_true(path_get(point, "params/bidirectional")) ? both_ways : one_way;
}

/* Half of the 95 % interval, of the mean. */
static const char *spread(const json_t *interval, char cell[CELL_MAX])
{
	const json_t *high = path_get(interval, "ci95_high");
	double mean = json_number_value(path_get(interval, "mean"));

	if (!json_is_number(high) || mean <= 0)
		return "-";
	snprintf(cell, CELL_MAX, "%.1f %%", (json_number_value(high) - mean) / mean * 100);
	return cell;
}

static const char *print(const struct column *column, const json_t *point, char cell[CELL_MAX])
{
	const json_t *value = path_get(point, column->path);
	double number = json_number_value(value);
	char text[UNITS_TEXT_BYTES];

	if (column->format == SPREAD)
		return spread(value, cell);
	if (!json_is_number(value))
		return "-";
	if (column->format == SIZE)
		snprintf(cell, CELL_MAX, "%s", units_print_size((uint64_t)number, text));
	else if (column->format == DURATION)
		snprintf(cell, CELL_MAX, "%s", units_print_duration(number, text));
	else if (column->format == WHOLE)
		snprintf(cell, CELL_MAX, number < 1 && number > 0 ? "%.2f" : "%.0f", number);
	else
		snprintf(cell, CELL_MAX, "%.3f",
			 column->format == GIGABITS ? number * 8 / 1e9 : number / 1e9);
	return cell;
}

static void print_head(const struct column *column)
{
	for (; column->title != NULL; column++)
		fprintf(stderr, "%*s ", column->width, column->title);
	fputc('\n', stderr);
}

static void print_row(const struct column *column, const json_t *point)
{
	char cell[CELL_MAX];

	for (; column->title != NULL; column++)
		fprintf(stderr, "%*s ", column->width, print(column, point, cell));
	fputc('\n', stderr);
}

/* What the points of one table share. */
static void describe(const json_t *point, char text[256])
{
	const char *persist = path_text(point, "params/persist"),
		   *op = path_text(point, "params/op");
	double load = json_number_value(path_get(point, "params/server_load_fraction"));
	json_int_t every = path_whole(point, "params/signal_every"),
		   batch = path_whole(point, "params/batch");
	/* the pool of librpmem is in no memory of the server */
	const char *kind = json_is_object(path_get(point, "params/rpmem"))
				   ? "a pool"
				   : path_text(point, "params/target_memory/kind");
	char more[128] = "";

	if (strcmp(persist, "none") == 0)
		persist = "";
	if (batch > 1)
		snprintf(more, sizeof(more), ", batches of %" JSON_INTEGER_FORMAT, batch);
	if (every > 1)
		snprintf(more + strlen(more), sizeof(more) - strlen(more),
			 ", 1 of %" JSON_INTEGER_FORMAT " signalled", every);
	if (load > 0)
		snprintf(more + strlen(more), sizeof(more) - strlen(more), ", server load %.2f",
			 load);
	snprintf(text, 256, "%s%s%s%s%s to %s: latency is %s, %s, %s%s%s%s",
		 path_text(point, "params/test"), op[0] != '\0' ? " " : "", op,
		 persist[0] != '\0' ? " " : "", persist, kind,
		 path_text(point, "params/latency_kind"), path_text(point, "params/completion"),
		 path_text(point, "params/pattern"),
		 json_is_true(path_get(point, "params/bidirectional")) ? ", both ways" : "",
		 json_is_true(path_get(point, "params/srq")) ? ", shared receive queue" : "", more);
}

static void print_gate(const json_t *gate)
{
	const json_t *point, *value;
	size_t index;

	fprintf(stderr, "%s: %s\n", path_text(gate, "gate"),
		json_is_true(json_object_get(gate, "missed")) ? "missed" : "kept");
	json_array_foreach(json_object_get(gate, "points"), index, point)
	{
		value = json_object_get(point, "value");
		if (!json_is_true(json_object_get(point, "missed")))
			continue;
		if (json_is_number(value))
			fprintf(stderr, "  %s: %.15g\n", path_text(point, "id"),
				json_number_value(value));
		else
			fprintf(stderr, "  %s: not known\n", path_text(point, "id"));
	}
}

/* The message that belongs to the column of intervals, if that has any. */
static void print_scope(const json_t *points)
{
	const json_t *point;
	size_t index;

	json_array_foreach(points, index, point)
	{
		if (json_is_number(path_get(point, "summary/ops_per_s/ci95_high"))) {
			fputs("+- 95% covers the repeats of this run, in these minutes on these "
			      "hosts; another hour may differ by more\n",
			      stderr);
			return;
		}
	}
}

void table_print(const json_t *document)
{
	const json_t *point;
	char title[256], before[256] = "";
	size_t index;

	fprintf(stderr, "over %s (%s)\n", path_text(document, "device/name"),
		path_text(document, "device/kind"));
	json_array_foreach(json_object_get(document, "points"), index, point)
	{
		describe(point, title);
		if (strcmp(title, before) != 0) {
			fprintf(stderr, "%s\n", title);
			print_head(columns_of(point));
		}
		memcpy(before, title, sizeof(before));
		print_row(columns_of(point), point);
	}
	print_scope(json_object_get(document, "points"));
}

void table_print_gates(const json_t *document, bool missed_only)
{
	const json_t *gate;
	size_t index;

	json_array_foreach(path_get(document, "run/gates"), index, gate)
	{
		if (!missed_only || json_is_true(json_object_get(gate, "missed")))
			print_gate(gate);
	}
}
