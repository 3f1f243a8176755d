/* SPDX-License-Identifier: BSD-3-Clause */
/* json_schema.c -- walks JSON and a table side by side. */
#include "json_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

#define COUNT_MAX (1LL << 53)
#define ERRNO_MAX 133

static const char *const expected[] = {
	[SCHEMA_COUNT] = "a whole number from 0 to 2^53",
	[SCHEMA_WHOLE] = "a whole number from 0",
	[SCHEMA_WHOLE_32] = "a whole number from 0 to 4294967295",
	[SCHEMA_NUMBER] = "a number from 0",
	[SCHEMA_FRACTION] = "a number from 0 to 1",
	[SCHEMA_TEXT] = "a text",
	[SCHEMA_NAME] = "a text of letters, digits and _-./:",
	[SCHEMA_STRING] = "a text",
	[SCHEMA_ERROR] = "the name of an error, such as \"EACCES\"",
	[SCHEMA_FLAG] = "true or false",
	[SCHEMA_TRUE] = "true",
	[SCHEMA_LATENCY] = "a latency whose buckets, count, extremes, mean and percentiles agree",
	[SCHEMA_OBJECT] = "an object",
	[SCHEMA_MAP] = "an object",
	[SCHEMA_LIST] = "a list",
};

bool schema_wrong(const struct schema_position *position, const char *what)
{
	snprintf(position->why, SCHEMA_WHY_MAX, "%s: expected %s", position->path, what);
	return false;
}

static bool in_range(const json_t *value, json_int_t most)
{
	return json_is_integer(value) && json_integer_value(value) >= 0 &&
	       json_integer_value(value) <= most;
}

static bool is_number(const json_t *value, double most)
{
	return json_is_number(value) && json_number_value(value) >= 0 &&
	       json_number_value(value) <= most;
}

/* Not of the field's kind: '"read", "native"', '"ok" or the name of an error', "true". */
static bool wrong_kind(const struct schema_position *position, const struct schema *field)
{
	bool named = field->kind == SCHEMA_WORD || field->kind == SCHEMA_ERROR;
	const char *word = named && field->more != NULL ? field->more : "";
	char what[SCHEMA_WHY_MAX];
	size_t len = 0;

	for (; *word != '\0'; word += strcspn(word, " "), word += strspn(word, " "))
		len += (size_t)snprintf(what + len, sizeof(what) - len, "%s\"%.*s\"",
					len > 0 ? ", " : "", (int)strcspn(word, " "), word);
	if (field->kind != SCHEMA_WORD)
		snprintf(what + len, sizeof(what) - len, "%s%s", len > 0 ? " or " : "",
			 expected[field->kind]);
	return schema_wrong(position, what);
}

static bool is_word(const json_t *value, const char *words)
{
	const char *word = json_string_value(value), *at = words;
	size_t length = word != NULL ? strlen(word) : 0;

	while (length > 0 && (at = strstr(at, word)) != NULL) {
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return strchr(word, ' ') == NULL;
		at += length;
	}
	return false;
}

int schema_errno(const char *name)
{
	for (int i = 1; i <= ERRNO_MAX; i++) {
		const char *known = strerrorname_np(i);

		if (name != NULL && known != NULL && strcmp(known, name) == 0)
			return i;
	}
	return 0;
}

static bool is_name(const char *text)
{
	return text != NULL && text[0] != '\0' && strlen(text) <= SCHEMA_TEXT_MAX &&
	       text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				 "_-./:")] == '\0';
}

static bool is_latency(const json_t *value)
{
	struct histogram *h = histogram_new();
	json_t *percentiles = NULL;
	bool good = h != NULL && result_read_latency(value, h) == 0;

	if (good)
		percentiles = result_percentile_list(h);
	good = good && json_equal(percentiles, json_object_get(value, "percentiles"));
	json_decref(percentiles);
	free(h);
	return good;
}

static bool has_kind(const json_t *value, const struct schema *field)
{
	switch (field->kind) {
	case SCHEMA_COUNT:
		return in_range(value, COUNT_MAX);
	case SCHEMA_WHOLE:
		return in_range(value, INT64_MAX);
	case SCHEMA_WHOLE_32:
		return in_range(value, UINT32_MAX);
	case SCHEMA_NUMBER:
		return is_number(value, INFINITY);
	case SCHEMA_FRACTION:
		return is_number(value, 1);
	case SCHEMA_TEXT:
		return json_string_length(value) > 0;
	case SCHEMA_NAME:
		return is_name(json_string_value(value));
	case SCHEMA_STRING:
		return json_is_string(value);
	case SCHEMA_WORD:
		return is_word(value, field->more);
	case SCHEMA_ERROR:
		return schema_errno(json_string_value(value)) != 0 ||
		       (field->more != NULL && is_word(value, field->more));
	case SCHEMA_FLAG:
		return json_is_boolean(value);
	case SCHEMA_TRUE:
		return json_is_true(value);
	case SCHEMA_LATENCY:
		return is_latency(value);
	case SCHEMA_OBJECT:
	case SCHEMA_MAP:
		return json_is_object(value);
	case SCHEMA_LIST:
		return json_is_array(value);
	}
	return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static bool check(const json_t *value, const struct schema *field, struct schema_position *position)
{
	const struct schema *each = field->more;
	size_t length = strlen(position->path), index;
	json_t *element;
	const char *key;

	if ((value == NULL && field->may & SCHEMA_MISSING) ||
	    (json_is_null(value) && field->may & SCHEMA_NULL))
		return true;
	if (!has_kind(value, field))
		return wrong_kind(position, field);
	if (field->kind == SCHEMA_OBJECT)
		return schema_check(value, field->more, position);
	if (field->kind == SCHEMA_MAP) {
		json_object_foreach((json_t *)(uintptr_t)value, key, element) {
			if (!check(element, each, position))
				return false;
		}
	}
	if (field->kind == SCHEMA_LIST) {
		json_array_foreach(value, index, element) {
			snprintf(position->path + length, sizeof(position->path) - length, "[%zu]",
				 index);
			if (!check(element, each, position))
				return false;
		}
		position->path[length] = '\0';
	}
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
bool schema_check(const json_t *object, const struct schema *fields,
		  struct schema_position *position)
{
	size_t length = strlen(position->path);

	for (const struct schema *f = fields; f->key != NULL; f++) {
		snprintf(position->path + length, sizeof(position->path) - length, "%s%s",
			 length > 0 ? "." : "", f->key);
		if (!check(json_object_get(object, f->key), f, position))
			return false;
	}
	position->path[length] = '\0';
	return true;
}

/* Percentiles are recomputed from the buckets, which must agree with the rest. */
static json_t *take_latency(const json_t *value)
{
	struct histogram *h = histogram_new();
	json_t *latency = NULL;

	if (h != NULL && result_read_latency(value, h) == 0) {
		latency = result_latency(h);
		/* as they were said: the way back through sums may round them again */
		json_object_set(latency, "mean_ns", json_object_get(value, "mean_ns"));
		json_object_set(latency, "stddev_ns", json_object_get(value, "stddev_ns"));
	}
	free(h);
	return latency;
}

static json_t *take(const json_t *value, const struct schema *schema);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take_elements(const json_t *value, const struct schema *each)
{
	json_t *taken = json_is_array(value) ? json_array() : json_object(), *element;
	const char *key;
	size_t index;

	json_array_foreach(value, index, element) {
		if (index < SCHEMA_ELEMENTS_MAX)
			json_array_append_new(taken, take(element, each));
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, element) {
		if (is_name(key) && json_object_size(taken) < SCHEMA_ELEMENTS_MAX)
			json_object_set_new(taken, key, take(element, each));
	}
	return taken;
}

/* NULL: it does not match. NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take_as_it_is(const json_t *value, const struct schema *schema)
{
	if (schema->kind == SCHEMA_LATENCY)
		return take_latency(value);
	if (!has_kind(value, schema) || json_string_length(value) > SCHEMA_TEXT_MAX)
		return NULL;
	if (schema->kind == SCHEMA_OBJECT)
		return schema_take(value, schema->more);
	if (schema->kind == SCHEMA_LIST || schema->kind == SCHEMA_MAP)
		return take_elements(value, schema->more);
	return json_copy((json_t *)(uintptr_t)value);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take(const json_t *value, const struct schema *schema)
{
	json_t *taken = take_as_it_is(value, schema);

	return taken == NULL && schema->may & SCHEMA_NULL ? json_null() : taken;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
json_t *schema_take(const json_t *object, const struct schema *fields)
{
	json_t *taken = json_is_object(object) ? json_object() : NULL;

	for (const struct schema *f = fields; taken != NULL && f->key != NULL; f++) {
		json_t *value = take(json_object_get(object, f->key), f);

		if (value != NULL) {
			json_object_set_new(taken, f->key, value);
		} else if ((f->may & SCHEMA_MISSING) == 0) {
			json_decref(taken);
			taken = NULL;
		}
	}
	return taken;
}
