/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * warning.c -- a list of warnings, each in it once.
 */
#include "warning.h"

#include <stdbool.h>
#include <string.h>

static bool is_there(const json_t *list, const char *code, const char *host, const json_t *text)
{
	const json_t *one;
	size_t index;

	json_array_foreach(list, index, one)
	{
		if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0 &&
		    strcmp(json_string_value(json_object_get(one, "host")), host) == 0 &&
		    json_equal(json_object_get(one, "text"), text))
			return true;
	}
	return false;
}

void warning_append(json_t *list, const char *code, const char *severity, const char *host,
		    json_t *text)
{
	if (text != NULL)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s, s:o}", "code", code, "severity",
						severity, "host", host, "text", text));
}

void warning_add(json_t *list, const char *code, const char *severity, const char *host,
		 json_t *text)
{
	if (text != NULL && is_there(list, code, host, text))
		json_decref(text);
	else
		warning_append(list, code, severity, host, text);
}
