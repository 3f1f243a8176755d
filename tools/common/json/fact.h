/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fact.h -- what a file contains, as a JSON value: null when it is empty or absent.
 */
#ifndef COMMON_JSON_FACT_H
#define COMMON_JSON_FACT_H

#include <jansson.h>

#include "tools/common/host/sysroot.h"

struct fact {
	const char *key;
	const char *path;
};

/* The first line of a file. */
json_t *fact_text(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
json_t *fact_number(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A NUMA node; sysfs has -1 where the platform does not tell. */
json_t *fact_node(const struct sysroot *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds all rows, up to one without a key, to an object. */
void fact_add_texts(const struct sysroot *root, json_t *group, const struct fact *facts);
void fact_add_numbers(const struct sysroot *root, json_t *group, const struct fact *facts);

/* The value after "key<blanks>:<blanks>" on the first such line of a text. */
bool fact_field(const char *text, const char *key, char *value, size_t size);

#endif /* COMMON_JSON_FACT_H */
