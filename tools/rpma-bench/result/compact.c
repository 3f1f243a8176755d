/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compact.c -- writes a result with little but its figures.
 *
 * A plan of short points has thousands of repeats, and most of what such a file
 * would hold is blanks, nulls, and words that the point has too. The schema
 * lets a reader take a key that is not there for null, so nothing is lost. The
 * document itself is left alone: what is made smaller is copied, no deeper
 * than it changes.
 */
#include "output.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY)

/* The schema requires these, null or not. */
static const char *const required[] = {"bytes", "ops_per_s", "bytes_per_s", "latency", NULL};

static bool is_required(const char *key)
{
	for (size_t i = 0; required[i] != NULL; i++) {
		if (strcmp(required[i], key) == 0)
			return true;
	}
	return false;
}

static bool all_null(const json_t *object)
{
	const char *key;
	json_t *value;

	/* the iterator takes no const */
	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		if (!json_is_null(value))
			return false;
	}
	return json_is_object(object);
}

/* Has the point all of it, with the same values? */
static bool is_part_of(const json_t *used, const json_t *params)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)used, key, value) {
		if (!json_equal(value, json_object_get(params, key)))
			return false;
	}
	return json_is_object(params);
}

/* Percentiles ascend: those that the samples are too few for are the last ones. */
static json_t *slim_latency(const json_t *latency)
{
	json_t *slim = json_copy((json_t *)(uintptr_t)latency);
	json_t *list = json_copy(json_object_get(latency, "percentiles"));
	size_t count = json_array_size(list);

	while (count > 0 && json_is_null(json_object_get(json_array_get(list, count - 1), "ns")))
		json_array_remove(list, --count);
	if (list != NULL)
		json_object_set_new(slim, "percentiles", list);
	return slim;
}

static bool says_nothing(const char *key, const json_t *value, const json_t *params)
{
	if (json_is_null(value))
		return !is_required(key);
	if (strcmp(key, "used") == 0)
		return is_part_of(value, params);
	if (strcmp(key, "counters") == 0 || strcmp(key, "cpu_quota") == 0)
		return all_null(value);
	return strcmp(key, "warnings") == 0 && json_array_size(value) == 0;
}

static json_t *slim_repeat(const json_t *repeat, const json_t *params)
{
	json_t *slim = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)repeat, key, value) {
		if (says_nothing(key, value, params))
			continue;
		if (json_object_get(value, "histogram") != NULL)
			json_object_set_new(slim, key, slim_latency(value));
		else
			json_object_set(slim, key, value);
	}
	return slim;
}

static json_t *slim_summary(const json_t *summary)
{
	json_t *slim = json_object(), *value;
	const char *key;

	json_object_foreach((json_t *)(uintptr_t)summary, key, value) {
		if (!json_is_null(value) || is_required(key))
			json_object_set(slim, key, value);
	}
	return slim;
}

static json_t *slim_point(const json_t *point)
{
	json_t *slim = json_copy((json_t *)(uintptr_t)point), *repeats = json_array();
	const json_t *repeat;
	size_t index;

	json_array_foreach(json_object_get(point, "repeats"), index, repeat) {
		json_array_append_new(repeats,
				      slim_repeat(repeat, json_object_get(point, "params")));
	}
	json_object_set_new(slim, "repeats", repeats);
	json_object_set_new(slim, "summary", slim_summary(json_object_get(point, "summary")));
	return slim;
}

static bool put(FILE *to, const json_t *value)
{
	/* what could not be made is NULL, which jansson refuses */
	return json_dumpf(value, to, FLAGS) == 0;
}

static bool put_points(FILE *to, const json_t *points)
{
	const json_t *point;
	bool good = fputs("[", to) >= 0;
	size_t index;

	json_array_foreach(points, index, point) {
		json_t *slim = slim_point(point);

		good = good && fputs(index > 0 ? ",\n" : "\n", to) >= 0 && put(to, slim);
		json_decref(slim);
	}
	return good && fputs("]", to) >= 0;
}

/* Each member on a line of its own, and so each point. */
static bool put_document(FILE *to, const json_t *document)
{
	const char *key, *before = "{";
	json_t *value;
	bool good = true;

	json_object_foreach((json_t *)(uintptr_t)document, key, value) {
		good = good && fprintf(to, "%s\n\"%s\":", before, key) > 0 &&
		       (strcmp(key, "points") == 0 ? put_points(to, value) : put(to, value));
		before = ",";
	}
	return good && fputs("\n}\n", to) >= 0;
}

char *compact_text(const json_t *document, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);
	bool good;

	if (to == NULL)
		return NULL;
	good = put_document(to, document);
	if (fclose(to) == 0 && good)
		return text;
	free(text);
	return NULL;
}
