/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * csv.c -- writes a result as comma-separated values (RFC 4180, lines end with
 * a line feed alone).
 *
 * A column is a name and a path; values are spelled as in the JSON, so the two
 * are equal to the last digit, and are in its order. Every file has all columns.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/json/json_path.h"
#include "common/json/result.h"
#include "tools/rpma-bench/protocol/plain_counts.h"

enum from { RUN, POINT, REPEAT };

struct column {
	const char *name;
	enum from from;
	const char *path;
};

#define LATENCY(name, path)                                                                        \
	{name "_count", REPEAT, path "/count"}, {name "_min_ns", REPEAT, path "/min_ns"},          \
		{name "_mean_ns", REPEAT, path "/mean_ns"},                                        \
		{name "_stddev_ns", REPEAT, path "/stddev_ns"},                                    \
		{name "_p50_ns", REPEAT, path "/percentiles/p=0.5/ns"},                            \
		{name "_p90_ns", REPEAT, path "/percentiles/p=0.9/ns"},                            \
		{name "_p95_ns", REPEAT, path "/percentiles/p=0.95/ns"},                           \
		{name "_p99_ns", REPEAT, path "/percentiles/p=0.99/ns"},                           \
		{name "_p99.9_ns", REPEAT, path "/percentiles/p=0.999/ns"},                        \
		{name "_p99.99_ns", REPEAT, path "/percentiles/p=0.9999/ns"},                      \
		{name "_p99.999_ns", REPEAT, path "/percentiles/p=0.99999/ns"},                    \
		{name "_p99.9999_ns", REPEAT, path "/percentiles/p=0.999999/ns"},                  \
	{                                                                                          \
		name "_max_ns", REPEAT, path "/max_ns"                                             \
	}
#define STEP(name)                                                                                 \
	{                                                                                          \
		name "_mean_ns", REPEAT, "steps/name=" name "/latency/mean_ns"                     \
	}

#define COUNT(name_, ...)                                                                          \
	{                                                                                          \
		.name = #name_, .from = REPEAT, .path = #name_                                     \
	}

static const struct column columns[] = {
	{"run_id", RUN, "run/id"},
	{"label", RUN, "run/label"},
	{"status", RUN, "run/status"},
	{"device", RUN, "device/name"},
	{"device_kind", RUN, "device/kind"},
	{"point", POINT, "id"},
	{"test", POINT, "params/test"},
	{"op", POINT, "params/op"},
	{"persist", POINT, "params/persist"},
	{"flush", POINT, "params/flush"},
	{"flush_method", POINT, "params/flush_method"},
	{"atomic_write_method", POINT, "params/atomic_write_method"},
	{"latency_kind", POINT, "params/latency_kind"},
	{"size_bytes", POINT, "params/size_bytes"},
	{"size_mix", POINT, "params/size_mix"},
	{"depth", POINT, "params/depth"},
	{"threads", POINT, "params/threads"},
	{"connections", POINT, "params/connections"},
	{"batch", POINT, "params/batch"},
	{"signal_every", POINT, "params/signal_every"},
	{"completion", POINT, "params/completion"},
	{"pattern", POINT, "params/pattern"},
	{"zipf_theta", POINT, "params/zipf_theta"},
	{"mode", POINT, "params/mode"},
	{"target_rate_per_s", POINT, "params/target_rate_per_s"},
	{"arrivals", POINT, "params/arrivals"},
	{"bidirectional", POINT, "params/bidirectional"},
	{"srq", POINT, "params/srq"},
	{"read_fraction", POINT, "params/read_fraction"},
	{"server_load_fraction", POINT, "params/server_load_fraction"},
	{"target_index", POINT, "params/target_memory/index"},
	{"target_kind", POINT, "params/target_memory/kind"},
	{"target_bytes", POINT, "params/target_memory/bytes"},
	{"repeat", REPEAT, "index"},
	{"order", REPEAT, "order"},
	{"complete", REPEAT, "complete"},
	{"elapsed_ns", REPEAT, "elapsed_ns"},
	{"ops", REPEAT, "ops"},
	{"bytes", REPEAT, "bytes"},
	{"ops_per_s", REPEAT, "ops_per_s"},
	{"bytes_per_s", REPEAT, "bytes_per_s"},
	{"errors", REPEAT, "errors"},
	{"read_ops", REPEAT, "read_ops"},
	PLAIN_COUNT_ROWS(COUNT, PLAIN_COUNT_COMMA),
	LATENCY("latency", "latency"),
	LATENCY("read_latency", "read_latency"),
	LATENCY("response_latency", "response_latency"),
	STEP("prepare"),
	STEP("establish"),
	STEP("disconnect"),
	STEP("delete"),
	STEP("register"),
	STEP("deregister"),
	{"warmup_ns", REPEAT, "warmup/ns"},
	{"warmup_ops", REPEAT, "warmup/ops"},
	{"warmup_steady", REPEAT, "warmup/steady"},
	{"client_busy_fraction", REPEAT, "cpu/client/busy_fraction"},
	{"server_busy_fraction", REPEAT, "cpu/server/busy_fraction"},
	{"server_load_fraction_measured", REPEAT, "cpu/server/load_fraction_measured"},
	{"server_requests", REPEAT, "requests"},
	{"verify_checked_bytes", REPEAT, "verify/checked_bytes"},
	{"verify_mismatches", REPEAT, "verify/mismatches"},
	{"reverse_elapsed_ns", REPEAT, "reverse/elapsed_ns"},
	{"reverse_ops", REPEAT, "reverse/ops"},
	{"reverse_bytes", REPEAT, "reverse/bytes"},
	{"reverse_ops_per_s", REPEAT, "reverse/ops_per_s"},
	{"reverse_bytes_per_s", REPEAT, "reverse/bytes_per_s"},
	LATENCY("reverse_latency", "reverse/latency"),
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* In quotes only where it must be; before: one more character of the cell, or nothing. */
static void put_text(FILE *file, const char *before, const char *text)
{
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fprintf(file, "%s%s", before, text);
		return;
	}
	fprintf(file, "\"%s", before);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', file);
		fputc(*text, file);
	}
	fputc('"', file);
}

/* A spreadsheet takes a text that begins so for a formula, unless it finds a quote before it. */
static bool is_formula(const char *text)
{
	return text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
}

static void put_value(FILE *file, const json_t *value)
{
	char *text;

	if (json_is_string(value)) {
		const char *words = json_string_value(value);

		put_text(file, is_formula(words) ? "'" : "", words);
	} else if (value != NULL && !json_is_null(value)) {
		text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
		if (text != NULL)
			put_text(file, "", text);
		free(text);
	}
}

static void put_row(FILE *file, const json_t *document, const json_t *point, const json_t *repeat)
{
	const json_t *from[] = {[RUN] = document, [POINT] = point, [REPEAT] = repeat};

	for (size_t i = 0; i < COLUMNS; i++) {
		if (i > 0)
			fputc(',', file);
		put_value(file, path_get(from[columns[i].from], columns[i].path));
	}
	fputc('\n', file);
}

static void put_all(FILE *file, const json_t *document)
{
	const json_t *point, *repeat;
	size_t i, k;

	for (i = 0; i < COLUMNS; i++)
		fprintf(file, "%s%s", i > 0 ? "," : "", columns[i].name);
	fputc('\n', file);
	json_array_foreach(json_object_get(document, "points"), i, point) {
		json_array_foreach(json_object_get(point, "repeats"), k, repeat)
			put_row(file, document, point, repeat);
	}
}

/* NULL: to standard output */
int csv_write(const char *path, const json_t *document)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	int ret = 0;

	if (file != NULL)
		put_all(file, document);
	if (file == NULL || fclose(file) != 0)
		ret = failure_set(EXIT_INTERNAL, "output", "out of memory");
	if (ret == 0)
		ret = result_write_text(path, text, len);
	free(text);
	return ret;
}
