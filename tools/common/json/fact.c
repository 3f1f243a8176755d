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

json_t *fact_text(const struct sysroot *root, const char *format, ...)
{
	char path[PATH_MAX], line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return sysroot_line(root, line, sizeof(line), "%s", path) ? result_text(line) : json_null();
}

json_t *fact_number(const struct sysroot *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int64_t value;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return sysroot_number(root, &value, "%s", path) ? json_integer(value) : json_null();
}

json_t *fact_node(const struct sysroot *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int64_t value;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return sysroot_number(root, &value, "%s", path) ? result_known(value) : json_null();
}

void fact_add_texts(const struct sysroot *root, json_t *group, const struct fact *facts)
{
	for (; facts->key != NULL; facts++)
		json_object_set_new(group, facts->key, fact_text(root, "%s", facts->path));
}

void fact_add_numbers(const struct sysroot *root, json_t *group, const struct fact *facts)
{
	for (; facts->key != NULL; facts++)
		json_object_set_new(group, facts->key, fact_number(root, "%s", facts->path));
}

bool fact_field(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);
	const char *line = text;

	while (line != NULL && *line != '\0') {
		const char *after = line + len;

		if (strncmp(line, key, len) == 0) {
			after += strspn(after, " \t");
			if (*after == ':') {
				after++;
				after += strspn(after, " \t");
				snprintf(value, size, "%.*s", (int)strcspn(after, "\n"), after);
				return value[0] != '\0';
			}
		}
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	return false;
}
