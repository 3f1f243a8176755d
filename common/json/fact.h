/* SPDX-License-Identifier: BSD-3-Clause */
/* fact.h -- what a file contains, as a JSON value: null when it is empty or absent. */
#pragma once

#include <jansson.h>

#include "common/host/sysroot.h"

enum fact_kind {
	FACT_TEXT, /* the first line of a file */
	FACT_NUMBER,
	FACT_NODE, /* a NUMA node; sysfs has -1 where the platform does not tell */
	FACT_LINK  /* the last component of what a link points to */
};

struct fact {
	const char *key;
	enum fact_kind kind;
	const char *path;
};

json_t *fact_get(const struct sysroot *root, enum fact_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds all rows, up to one without a key, to an object; their paths begin behind base. */
void fact_add(const struct sysroot *root, json_t *group, const char *base,
	      const struct fact *facts);
