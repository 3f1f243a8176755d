/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_path.c -- follows a path through JSON.
 *
 * Nothing is assumed of the document: what a path does not find is NULL, as
 * jansson has it.
 */
#include "json_path.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_MAX 64

static bool has(const json_t *element, const char *key, const char *wanted)
{
	const json_t *value = json_object_get(element, key);

	if (json_is_string(value))
		return strcmp(json_string_value(value), wanted) == 0;
	return json_is_number(value) &&
	       fabs(json_number_value(value) - strtod(wanted, NULL)) < 1e-9;
}

static const json_t *element_of(const json_t *array, char *part)
{
	char *wanted = strchr(part, '=');
	const json_t *element;
	size_t index;

	if (wanted == NULL)
		return NULL;
	*wanted++ = '\0';
	json_array_foreach(array, index, element) {
		if (has(element, part, wanted))
			return element;
	}
	return NULL;
}

const json_t *path_get(const json_t *from, const char *path)
{
	char part[PART_MAX];

	while (from != NULL && *path != '\0') {
		size_t len = strcspn(path, "/");

		snprintf(part, sizeof(part), "%.*s", (int)len, path);
		from = json_is_array(from) ? element_of(from, part) : json_object_get(from, part);
		path += len;
		path += *path == '/';
	}
	return from;
}

const char *path_text(const json_t *from, const char *path)
{
	const char *text = json_string_value(path_get(from, path));

	return text != NULL ? text : "";
}

json_int_t path_whole(const json_t *from, const char *path)
{
	return json_integer_value(path_get(from, path));
}

bool path_is(const json_t *from, const char *path, const char *text)
{
	return strcmp(path_text(from, path), text) == 0;
}
