/* SPDX-License-Identifier: BSD-3-Clause */
/* json_holds.h -- what a document has at the paths of json_path.h. */
#pragma once

#include "common/json/json_path.h"
#include "test.h"

/* Each expectation is "path: value": a number, a text, true, false, null, or [N], a list of N. */
#define HOLDS(json, ...) json_holds(json, (const char *const[]){__VA_ARGS__, NULL})

/* The same of what is made for it alone, which is released. */
#define GIVES(json, ...) json_gives(json, (const char *const[]){__VA_ARGS__, NULL})

static inline void json_holds(const json_t *json, const char *const *expectations)
{
	for (; *expectations != NULL; expectations++) {
		const char *wanted = strstr(*expectations, ": ") + 2;
		char path[128], *end;
		const json_t *value;
		bool holds;

		snprintf(path, sizeof(path), "%.*s", (int)(wanted - *expectations) - 2,
			 *expectations);
		value = path_get(json, path);
		if (json_is_integer(value))
			holds = json_integer_value(value) == strtoll(wanted, &end, 10) &&
				*end == '\0';
		else if (json_is_real(value))
			holds = json_real_value(value) == strtod(wanted, &end) && *end == '\0';
		else if (json_is_string(value))
			holds = strcmp(json_string_value(value), wanted) == 0;
		else if (json_is_array(value))
			holds = *wanted == '[' &&
				strtoull(wanted + 1, &end, 10) == json_array_size(value) &&
				strcmp(end, "]") == 0;
		else if (json_is_boolean(value))
			holds = strcmp(json_is_true(value) ? "true" : "false", wanted) == 0;
		else
			holds = json_is_null(value) && strcmp(wanted, "null") == 0;
		if (!holds)
			fail_msg("%s, but it is %s", *expectations,
				 value == NULL ? "missing" : json_dumps(value, JSON_ENCODE_ANY));
	}
}

static inline void json_gives(json_t *json, const char *const *expectations)
{
	json_holds(json, expectations);
	json_decref(json);
}

static inline json_int_t whole_at(const json_t *json, const char *path)
{
	const json_t *value = path_get(json, path);

	if (!json_is_integer(value))
		fail_msg("%s is no whole number", path);
	return json_integer_value(value);
}

static inline double real_at(const json_t *json, const char *path)
{
	const json_t *value = path_get(json, path);

	if (!json_is_number(value))
		fail_msg("%s is no number", path);
	return json_number_value(value);
}
