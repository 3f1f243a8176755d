/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fact.c -- reads single files below a root into JSON values.
 *
 * Used to gather the environment block: a fact is a key and a path.
 */
#include "fact.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "result.h"

json_t *fact_get(const struct sysroot *root, enum fact_kind kind, const char *format, ...)
{
	char path[PATH_MAX], text[512];
	bool known = false;
	int64_t value = -1;
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (kind == FACT_NUMBER || kind == FACT_NODE) {
		known = sysroot_number(root, &value, "%s", path);
		return known && (value >= 0 || kind == FACT_NUMBER) ? json_integer(value)
								    : json_null();
	}
	known = kind == FACT_TEXT ? sysroot_text(root, text, "%s", path)
				  : sysroot_link_name(root, text, sizeof(text), "%s", path);
	return known ? result_text(text) : json_null();
}

void fact_add(const struct sysroot *root, json_t *group, const char *base, const struct fact *facts)
{
	for (; facts->key != NULL; facts++)
		json_object_set_new(group, facts->key,
				    fact_get(root, facts->kind, "%s%s", base, facts->path));
}
