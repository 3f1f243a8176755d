/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.c -- the result for people: one line per point.
 *
 * Points that differ in nothing but the first columns share a table; each test
 * has the columns that matter for it, and a parameter that is the same in all rows is in
 * the heading instead, so that a line fits a terminal of 80 columns. All is read from the
 * document: the file and the terminal show the same.
 */
#include "output.h"

#include <string.h>

#include "common/base/units.h"
#include "common/json/json_path.h"
#include "tools/rpma-bench/options/slo.h"

#define CELL_MAX    40
#define HEADING_MAX 256

enum format { TEXT, SIZE, WHOLE, DURATION, GIGA, SPREAD };

/* A parameter or figure of a point. */
struct column {
	const char *title;
	int width;
	enum format format;
	const char *path;
	/* around the value in the heading, if all rows have the same; NULL: always a column */
	const char *before;
	const char *after;
};

#define POINT                                                                                      \
	{"point", 5, TEXT, "id", NULL, NULL}, {"size", 7, SIZE, "params/size_bytes", "", ""},      \
		{"depth", 5, WHOLE, "params/depth", "depth ", ""},                                 \
		{"threads", 7, WHOLE, "params/threads", "", " threads"},                           \
	{                                                                                          \
		"conns", 5, WHOLE, "params/connections", "", " connections"                        \
	}
#define REPEATS                                                                                    \
	{                                                                                          \
		"n", 2, WHOLE, "summary/n", "", " repeats"                                         \
	}
#define QUANTILE(title, width, p, latency)                                                         \
	{                                                                                          \
		title, width, DURATION, "summary/" latency "/percentiles/p=" p "/ns", NULL, NULL   \
	}
#define MAXIMUM                                                                                    \
	{                                                                                          \
		"max", 7, DURATION, "summary/latency/max_ns", NULL, NULL                           \
	}
#define MIDDLE	QUANTILE("p50", 7, "0.5", "latency"), QUANTILE("p99", 7, "0.99", "latency")
#define SAMPLES MIDDLE, QUANTILE("p99.9", 7, "0.999", "latency"), MAXIMUM
#define RATE                                                                                       \
	{"ops/s", 9, WHOLE, "summary/ops_per_s/mean", NULL, NULL},                                 \
	{                                                                                          \
		"+- 95%", 6, SPREAD, "summary/ops_per_s", NULL, NULL                               \
	}
#define BYTES                                                                                      \
	{                                                                                          \
		"GB/s", 6, GIGA, "summary/bytes_per_s/mean", NULL, NULL                            \
	}
#define STEP(name, width)                                                                          \
	{                                                                                          \
		name, width, DURATION, "summary/steps/name=" name "/latency/mean_ns/mean", NULL,   \
			NULL                                                                       \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, WHOLE, NULL, NULL, NULL                                                   \
	}

static const struct column one_way[] = {POINT, REPEATS, SAMPLES, RATE, BYTES, END};
static const struct column both_ways[] = {
	POINT,
	REPEATS,
	MIDDLE,
	MAXIMUM,
	RATE,
	BYTES,
	QUANTILE("back p99", 8, "0.99", "reverse/latency"),
	{"back GB/s", 9, GIGA, "summary/reverse/bytes_per_s/mean", NULL, NULL},
	END};
static const struct column rate[] = {
	POINT,
	{"planned/s", 9, WHOLE, "params/target_rate_per_s", "", " ops/s planned"},
	{"arrivals", 10, TEXT, "params/arrivals", "", " arrivals"},
	REPEATS,
	{"ops/s", 7, WHOLE, "summary/ops_per_s/mean", NULL, NULL},
	{"+- 95%", 6, SPREAD, "summary/ops_per_s", NULL, NULL},
	QUANTILE("resp p50", 8, "0.5", "response_latency"),
	QUANTILE("resp p99", 8, "0.99", "response_latency"),
	{"resp max", 8, DURATION, "summary/response_latency/max_ns", NULL, NULL},
	{"late", 6, WHOLE, "summary/late_ops", NULL, NULL},
	{"unbegun", 7, WHOLE, "summary/unbegun_ops", NULL, NULL},
	END};
static const struct column mix[] = {POINT,
				    {"reads", 5, WHOLE, "params/read_fraction", "reads ", ""},
				    REPEATS,
				    MIDDLE,
				    MAXIMUM,
				    RATE,
				    BYTES,
				    QUANTILE("read p50", 8, "0.5", "read_latency"),
				    QUANTILE("read p99", 8, "0.99", "read_latency"),
				    END};
static const struct column connects[] = {{"point", 5, TEXT, "id", NULL, NULL},
					 REPEATS,
					 MIDDLE,
					 MAXIMUM,
					 STEP("prepare", 7),
					 STEP("establish", 9),
					 STEP("disconnect", 10),
					 STEP("delete", 7),
					 {"ops/s", 5, WHOLE, "summary/ops_per_s/mean", NULL, NULL},
					 {"+- 95%", 6, SPREAD, "summary/ops_per_s", NULL, NULL},
					 END};
static const struct column registration[] = {{"point", 5, TEXT, "id", NULL, NULL},
					     {"size", 7, SIZE, "params/size_bytes", "", ""},
					     REPEATS,
					     SAMPLES,
					     STEP("deregister", 10),
					     RATE,
					     END};

static const struct column *columns_of(const json_t *point)
{
	if (path_is(point, "params/test", "rate"))
		return rate;
	if (path_is(point, "params/test", "mix"))
		return mix;
	if (path_is(point, "params/test", "connect"))
		return connects;
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

	if (column->format == TEXT)
		return path_text(point, column->path);
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
		snprintf(cell, CELL_MAX, "%.3f", number / 1e9);
	return cell;
}

/* Points that share a table: from first to the one before end. */
struct group {
	const json_t *points;
	size_t first;
	size_t end;
	const struct column *columns;
	unsigned in_heading; /* a bit for each column that is the same in all rows */
};

static bool is_same_in_all(const struct group *group, const struct column *column)
{
	char cells[2][CELL_MAX];
	const char *first = print(column, json_array_get(group->points, group->first), cells[0]);

	if (column->before == NULL)
		return false;
	for (size_t i = group->first + 1; i < group->end; i++) {
		if (strcmp(first, print(column, json_array_get(group->points, i), cells[1])) != 0)
			return false;
	}
	return true;
}

static void choose_columns(struct group *group)
{
	group->columns = columns_of(json_array_get(group->points, group->first));
	group->in_heading = 0;
	for (unsigned i = 0; group->columns[i].title != NULL; i++)
		group->in_heading |= (unsigned)is_same_in_all(group, &group->columns[i]) << i;
}

/* A line of a table: the titles, or the figures of a point. */
static void print_line(FILE *to, const struct group *group, const json_t *point)
{
	const char *gap = "";
	char cell[CELL_MAX];

	for (unsigned i = 0; group->columns[i].title != NULL; i++) {
		const struct column *column = &group->columns[i];

		if (group->in_heading & 1U << i)
			continue;
		fprintf(to, "%s%*s", gap, column->width,
			point != NULL ? print(column, point, cell) : column->title);
		gap = " ";
	}
	fputc('\n', to);
}

/* Describes the operation that is measured. */
static void describe_work(const json_t *point, char text[HEADING_MAX])
{
	const char *persist = path_text(point, "params/persist"),
		   *op = path_text(point, "params/op");
	/* the pool of librpmem is in no memory of the server */
	const char *kind = json_is_object(path_get(point, "params/rpmem"))
				   ? "a pool"
				   : path_text(point, "params/target_memory/kind");

	if (strcmp(persist, "none") == 0)
		persist = "";
	snprintf(text, HEADING_MAX, "%s%s%s%s%s to %s", path_text(point, "params/test"),
		 op[0] != '\0' ? " " : "", op, persist[0] != '\0' ? " " : "", persist, kind);
}

/* " of 4 KiB (10 %), 64 KiB (90 %)", behind their mean. */
static void describe_sizes(const json_t *sizes, char text[HEADING_MAX])
{
	const json_t *one;
	size_t index, used = 0;

	text[0] = '\0';
	json_array_foreach(sizes, index, one) {
		char size[UNITS_TEXT_BYTES];

		if (used < HEADING_MAX)
			used += (size_t)snprintf(
				text + used, HEADING_MAX - used, "%s%s (%lld %%)",
				index > 0 ? ", " : ", sizes ",
				units_print_size((uint64_t)path_whole(one, "size_bytes"), size),
				(long long)path_whole(one, "percent"));
	}
}

/* And how. */
static void describe_method(const json_t *point, char text[HEADING_MAX])
{
	double load = json_number_value(path_get(point, "params/server_load_fraction"));
	double theta = json_number_value(path_get(point, "params/zipf_theta"));
	json_int_t every = path_whole(point, "params/signal_every"),
		   batch = path_whole(point, "params/batch");
	char sizes[HEADING_MAX];
	size_t used;

	snprintf(text, HEADING_MAX, "latency is %s, %s, %s%s%s",
		 path_text(point, "params/latency_kind"), path_text(point, "params/completion"),
		 path_text(point, "params/pattern"),
		 json_is_true(path_get(point, "params/bidirectional")) ? ", both ways" : "",
		 json_is_true(path_get(point, "params/srq")) ? ", shared receive queue" : "");
	used = strlen(text);
	describe_sizes(path_get(point, "params/size_mix"), sizes);
	snprintf(text + used, HEADING_MAX - used, "%s", sizes);
	used = strlen(text);
	if (theta > 0)
		snprintf(text + used, HEADING_MAX - used, " by Zipf %.6g", theta);
	used = strlen(text);
	if (batch > 1)
		snprintf(text + used, HEADING_MAX - used, ", batches of %" JSON_INTEGER_FORMAT,
			 batch);
	used = strlen(text);
	if (every > 1)
		snprintf(text + used, HEADING_MAX - used,
			 ", 1 of %" JSON_INTEGER_FORMAT " signalled", every);
	used = strlen(text);
	if (load > 0)
		snprintf(text + used, HEADING_MAX - used, ", server load %.2f", load);
	used = strlen(text);
	if (json_is_array(path_get(point, "summary/steps")))
		snprintf(text + used, HEADING_MAX - used, ", steps are means");
}

static bool belong_together(const json_t *a, const json_t *b)
{
	char texts[4][HEADING_MAX];

	describe_work(a, texts[0]);
	describe_work(b, texts[1]);
	describe_method(a, texts[2]);
	describe_method(b, texts[3]);
	return strcmp(texts[0], texts[1]) == 0 && strcmp(texts[2], texts[3]) == 0;
}

/* Two lines: what, with the parameters of all rows, and how. A single thread is left out. */
static void print_heading(FILE *to, const struct group *group)
{
	const json_t *point = json_array_get(group->points, group->first);
	char text[HEADING_MAX], cell[CELL_MAX];

	describe_work(point, text);
	fputs(text, to);
	for (unsigned i = 0; group->columns[i].title != NULL; i++) {
		const struct column *column = &group->columns[i];
		const char *value = print(column, point, cell);

		if ((group->in_heading & 1U << i) != 0 && strcmp(value, "1") != 0)
			fprintf(to, ", %s%s%s", column->before, value, column->after);
	}
	describe_method(point, text);
	fprintf(to, "\n  %s\n", text);
}

/* A run that ended before the first point of the limit's test has none. */
static bool judges_none(const json_t *slo)
{
	const json_t *points = json_object_get(slo, "points"), *point;
	size_t index;

	json_array_foreach(points, index, point) {
		if (!json_is_false(json_object_get(point, "applies")))
			return false;
	}
	return true;
}

/* A point that does not keep it: the figure, and why that is not enough. */
static void print_judged(FILE *to, const json_t *slo, const json_t *judged, const json_t *point)
{
	const json_t *value = json_object_get(judged, "value");
	json_int_t unbegun = path_whole(point, "summary/unbegun_ops");
	bool known = !json_is_null(json_object_get(judged, "missed"));

	fprintf(to, "  %s: ", path_text(judged, "id"));
	if (known && json_is_number(value))
		fprintf(to, "%.15g%s", json_number_value(value),
			slo_is_time(path_text(slo, "slo")) ? " ns" : "");
	else
		fputs(known ? "above the limit, by how much is not known" : "not known", to);
	if (!known && unbegun > 0)
		fprintf(to, ": %" JSON_INTEGER_FORMAT " operations were never begun", unbegun);
	fputc('\n', to);
}

/* points: of the document, in the order of those of the SLO. */
static void print_slo(FILE *to, const json_t *slo, const json_t *points)
{
	const json_t *missed = json_object_get(slo, "missed"), *judged;
	size_t index;

	fprintf(to, "%s: %s\n", path_text(slo, "slo"),
		json_is_true(missed)	? "missed"
		: json_is_false(missed) ? "kept"
		: judges_none(slo)	? "not known: no point of it was measured"
					: "not known");
	json_array_foreach(json_object_get(slo, "points"), index, judged) {
		if (!json_is_false(json_object_get(judged, "missed")))
			print_judged(to, slo, judged, json_array_get(points, index));
	}
}

/* The message that belongs to the column of intervals, if that has any. */
static void print_scope(FILE *to, const json_t *points)
{
	const json_t *point;
	size_t index;

	json_array_foreach(points, index, point) {
		if (json_is_number(path_get(point, "summary/ops_per_s/ci95_high"))) {
			fputs("+- 95% covers the repeats of this run, in these minutes on these "
			      "hosts;\n"
			      "another hour may differ by more\n",
			      to);
			return;
		}
	}
}

void table_print(FILE *to, const json_t *document)
{
	struct group group = {.points = json_object_get(document, "points")};
	const size_t count = json_array_size(group.points);

	fprintf(to, "over %s (%s)\n", path_text(document, "device/name"),
		path_text(document, "device/kind"));
	for (; group.first < count; group.first = group.end) {
		const json_t *first = json_array_get(group.points, group.first);

		group.end = group.first + 1;
		while (group.end < count &&
		       belong_together(first, json_array_get(group.points, group.end)))
			group.end++;
		choose_columns(&group);
		print_heading(to, &group);
		print_line(to, &group, NULL);
		for (size_t i = group.first; i < group.end; i++)
			print_line(to, &group, json_array_get(group.points, i));
	}
	print_scope(to, group.points);
}

void table_print_slos(FILE *to, const json_t *document, bool missed_only)
{
	const json_t *slo;
	size_t index;

	json_array_foreach(path_get(document, "run/slos"), index, slo) {
		if (!missed_only || !json_is_false(json_object_get(slo, "missed")))
			print_slo(to, slo, json_object_get(document, "points"));
	}
}
