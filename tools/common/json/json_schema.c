/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_schema.c -- walks JSON and a table side by side.
 */
#include "json_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

#define COUNT_MAX (1LL << 53)

static const char *const expected[] = {
	[FORM_COUNT] = "a whole number from 0 to 2^53",
	[FORM_WHOLE] = "a whole number from 0",
	[FORM_NUMBER] = "a number from 0",
	[FORM_FRACTION] = "a number from 0 to 1",
	[FORM_TEXT] = "a text",
	[FORM_NAME] = "a text of letters, digits and _-./:",
	[FORM_WORD] = "a word of the schema",
	[FORM_FLAG] = "true or false",
	[FORM_TRUE] = "true",
	[FORM_LATENCY] = "a latency whose buckets, count, extremes, mean and percentiles agree",
	[FORM_OBJECT] = "an object",
	[FORM_MAP] = "an object",
	[FORM_LIST] = "a list",
};

bool form_wrong(const struct form_place *place, const char *what)
{
	snprintf(place->why, FORM_WHY_MAX, "%s: expected %s", place->path, what);
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

bool form_is_word(const json_t *value, const char *words)
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

static bool is_name(const char *text)
{
	return text != NULL && text[0] != '\0' && strlen(text) <= FORM_TEXT_MAX &&
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

static bool has_kind(const json_t *value, const struct form *field)
{
	switch (field->kind) {
	case FORM_COUNT:
		return in_range(value, COUNT_MAX);
	case FORM_WHOLE:
		return in_range(value, INT64_MAX);
	case FORM_NUMBER:
		return is_number(value, INFINITY);
	case FORM_FRACTION:
		return is_number(value, 1);
	case FORM_TEXT:
		return json_string_length(value) > 0;
	case FORM_NAME:
		return is_name(json_string_value(value));
	case FORM_WORD:
		return form_is_word(value, field->more);
	case FORM_FLAG:
		return json_is_boolean(value);
	case FORM_TRUE:
		return json_is_true(value);
	case FORM_LATENCY:
		return is_latency(value);
	case FORM_OBJECT:
	case FORM_MAP:
		return json_is_object(value);
	case FORM_LIST:
		return json_is_array(value);
	}
	return false;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static bool check(const json_t *value, const struct form *field, struct form_place *place)
{
	const struct form *each = field->more;
	size_t length = strlen(place->path), index;
	json_t *element;
	const char *key;

	if ((value == NULL && field->may & FORM_MISSING) ||
	    (json_is_null(value) && field->may & FORM_NULL))
		return true;
	if (!has_kind(value, field))
		return form_wrong(place, expected[field->kind]);
	if (field->kind == FORM_OBJECT)
		return form_check(value, field->more, place);
	if (field->kind == FORM_MAP) {
		json_object_foreach((json_t *)(uintptr_t)value, key, element)
		{
			if (!check(element, each, place))
				return false;
		}
	}
	if (field->kind == FORM_LIST) {
		json_array_foreach(value, index, element)
		{
			snprintf(place->path + length, sizeof(place->path) - length, "[%zu]",
				 index);
			if (!check(element, each, place))
				return false;
		}
		place->path[length] = '\0';
	}
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
bool form_check(const json_t *object, const struct form *fields, struct form_place *place)
{
	size_t length = strlen(place->path);

	for (const struct form *f = fields; f->key != NULL; f++) {
		snprintf(place->path + length, sizeof(place->path) - length, "%s%s",
			 length > 0 ? "." : "", f->key);
		if (!check(json_object_get(object, f->key), f, place))
			return false;
	}
	place->path[length] = '\0';
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

static json_t *take(const json_t *value, const struct form *form);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take_elements(const json_t *value, const struct form *each)
{
	json_t *taken = json_is_array(value) ? json_array() : json_object(), *element;
	const char *key;
	size_t index;

	json_array_foreach(value, index, element)
	{
		if (index < FORM_ELEMENTS_MAX)
			json_array_append_new(taken, take(element, each));
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, element)
	{
		if (is_name(key) && json_object_size(taken) < FORM_ELEMENTS_MAX)
			json_object_set_new(taken, key, take(element, each));
	}
	return taken;
}

/* NULL: it has not the form. NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take_as_it_is(const json_t *value, const struct form *form)
{
	if (form->kind == FORM_LATENCY)
		return take_latency(value);
	if (!has_kind(value, form) || json_string_length(value) > FORM_TEXT_MAX)
		return NULL;
	if (form->kind == FORM_OBJECT)
		return form_take(value, form->more);
	if (form->kind == FORM_LIST || form->kind == FORM_MAP)
		return take_elements(value, form->more);
	return json_copy((json_t *)(uintptr_t)value);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
static json_t *take(const json_t *value, const struct form *form)
{
	json_t *taken = take_as_it_is(value, form);

	return taken == NULL && form->may & FORM_NULL ? json_null() : taken;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tables */
json_t *form_take(const json_t *object, const struct form *fields)
{
	json_t *taken = json_is_object(object) ? json_object() : NULL;

	for (const struct form *f = fields; taken != NULL && f->key != NULL; f++) {
		json_t *value = take(json_object_get(object, f->key), f);

		if (value != NULL) {
			json_object_set_new(taken, f->key, value);
		} else if ((f->may & FORM_MISSING) == 0) {
			json_decref(taken);
			taken = NULL;
		}
	}
	return taken;
}
