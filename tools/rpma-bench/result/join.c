/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c -- walks a table of fields, and makes one value of several by the rule of its row. */
#include "join.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json_path.h"
#include "common/json/result.h"

static json_t *sum(struct sides s, enum schema_kind kind)
{
	json_int_t whole = 0;
	double real = 0;

	for (size_t i = 0; i < s.count; i++) {
		whole += json_integer_value(s.all[i]);
		real += json_number_value(s.all[i]);
	}
	return kind == SCHEMA_NUMBER ? result_real(real) : json_integer(whole);
}

static json_t *extreme(struct sides s, bool least)
{
	const json_t *end = s.all[0];

	for (size_t i = 1; i < s.count; i++) {
		double beyond = json_number_value(s.all[i]) - json_number_value(end);

		if (least ? beyond < 0 : beyond > 0)
			end = s.all[i];
	}
	return json_deep_copy(end);
}

static json_t *same(struct sides s)
{
	for (size_t i = 1; i < s.count; i++) {
		if (!json_equal(s.all[0], s.all[i]))
			return json_null();
	}
	return json_deep_copy(s.all[0]);
}

static json_t *worst(struct sides s)
{
	const json_t *most = s.all[0];

	for (size_t i = 1; i < s.count; i++) {
		if (json_is_false(json_object_get(most, "limited")) ||
		    path_whole(s.all[i], "throttled_ns") > path_whole(most, "throttled_ns"))
			most = s.all[i];
	}
	return json_deep_copy(most);
}

/* Unknown sides count as well. */
static json_t *all_true(struct sides s, const char *key)
{
	bool unknown = false;

	for (size_t i = 0; i < s.count; i++) {
		const json_t *value = json_object_get(s.all[i], key);

		if (json_is_false(value))
			return json_false();
		unknown = unknown || !json_is_true(value);
	}
	return unknown ? json_null() : json_true();
}

static json_t *latency(struct sides s)
{
	struct histogram *merged = histogram_new(), *one = histogram_new();
	json_t *value = NULL;

	for (size_t i = 0; merged != NULL && one != NULL && i < s.count; i++) {
		if (result_read_latency(s.all[i], one) == 0)
			histogram_merge(merged, one);
	}
	if (merged != NULL && one != NULL)
		value = result_latency(merged);
	free(merged);
	free(one);
	return value;
}

static json_t *append(struct sides s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s.count; i++) {
		json_t *more = json_deep_copy(s.all[i]);

		json_array_extend(list, more);
		json_decref(more);
	}
	return list;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *zip(struct sides s, const struct schema *element)
{
	const json_t **elements = calloc(s.count, sizeof(*elements));
	json_t *list = elements != NULL ? json_array() : NULL;
	size_t used = SIZE_MAX;

	for (size_t i = 0; i < s.count; i++)
		used = json_array_size(s.all[i]) < used ? json_array_size(s.all[i]) : used;
	for (size_t at = 0; list != NULL && at < used; at++) {
		for (size_t i = 0; i < s.count; i++)
			elements[i] = json_array_get(s.all[i], at);
		json_array_append_new(
			list,
			join_objects((struct sides){elements, s.count, s.repeats}, element->more));
	}
	free(elements);
	return list;
}

/* The key without _per_s, of what is joined already. */
static json_t *rate(const json_t *joined, const char *key)
{
	double s = json_number_value(json_object_get(joined, "elapsed_ns")) / 1e9;
	const json_t *number;
	char of[32];

	snprintf(of, sizeof(of), "%.*s", (int)(strlen(key) - strlen("_per_s")), key);
	number = json_object_get(joined, of);
	return json_is_number(number) && s > 0 ? result_real(json_number_value(number) / s)
					       : json_null();
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *by_kind(struct sides s, const struct schema *field)
{
	switch (field->kind) {
	case SCHEMA_COUNT:
	case SCHEMA_WHOLE:
	case SCHEMA_NUMBER:
		return sum(s, field->kind);
	case SCHEMA_LATENCY:
		return latency(s);
	case SCHEMA_OBJECT:
		return join_objects(s, field->more);
	default:
		return json_null();
	}
}

/* All values are known. NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *by_rule(struct sides s, const struct schema *field)
{
	switch (field->may & JOIN_RULE) {
	case JOIN_SAME:
		return same(s);
	case JOIN_SPAN:
		return s.repeats ? sum(s, field->kind) : extreme(s, false);
	case JOIN_MOST:
	case JOIN_LEAST:
		return extreme(s, (field->may & JOIN_RULE) == JOIN_LEAST);
	case JOIN_APPEND:
		return append(s);
	case JOIN_ZIP:
		return zip(s, field->more);
	case JOIN_WORST:
		return worst(s);
	case JOIN_NULL:
		return json_null();
	default:
		return by_kind(s, field);
	}
}

/* joined: the object so far. NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *join(struct sides s, const struct schema *field, const json_t *joined)
{
	bool some = s.repeats || field->kind == SCHEMA_LATENCY || (field->may & JOIN_KNOWN) != 0;
	const json_t **known;
	json_t *value;
	size_t count = 0;

	if ((field->may & JOIN_RULE) == JOIN_ALL)
		return all_true(s, field->key);
	if ((field->may & JOIN_RULE) == JOIN_RATE)
		return rate(joined, field->key);
	some = some && (field->may & JOIN_RULE) != JOIN_SAME;
	known = calloc(s.count + 1, sizeof(*known)); /* never nothing */
	if (known == NULL)
		return NULL;
	for (size_t i = 0; i < s.count; i++) {
		const json_t *one = json_object_get(s.all[i], field->key);

		if (one != NULL && !json_is_null(one))
			known[count++] = one;
	}
	if (count == 0 || (!some && count < s.count))
		value = json_null();
	else
		value = by_rule((struct sides){known, count, s.repeats}, field);
	free(known);
	return value;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
json_t *join_objects(struct sides s, const struct schema *fields)
{
	json_t *joined = json_object();
	int bad = 0;

	for (const struct schema *f = fields; f->key != NULL; f++) {
		if ((f->may & JOIN_RULE) != JOIN_OUT)
			bad |= json_object_set_new(joined, f->key, join(s, f, joined));
	}
	if (bad == 0)
		return joined;
	json_decref(joined);
	return NULL;
}

json_t *join_key(struct sides s, const struct schema *fields, const char *key)
{
	while (strcmp(fields->key, key) != 0)
		fields++;
	return join(s, fields, NULL);
}
