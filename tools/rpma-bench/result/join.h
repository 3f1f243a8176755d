/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * join.h -- how the figures of several become one: of the ranks that measured a repeat together,
 * or of the repeats of a point.
 *
 * The rule is in the row of a figure. Without one, counts and numbers are added up, latencies
 * merged, objects joined row by row, and all else is null. What one rank does not know, all
 * together do not know; of repeats, those that know it count.
 */
#pragma once

#include <stddef.h>

#include "common/json/json_schema.h"

/* In the "may" of a row. */
enum join {
	JOIN_SAME = 1 << 8, /* what all have; null where they differ */
	JOIN_MOST = 2 << 8,
	JOIN_LEAST = 3 << 8,
	JOIN_SPAN = 4 << 8,   /* a time: ranks pass it together, repeats one after the other */
	JOIN_ALL = 5 << 8,    /* false if one is, true if all are */
	JOIN_RATE = 6 << 8,   /* the key without _per_s by elapsed_ns; behind both */
	JOIN_APPEND = 7 << 8, /* a list: one behind the other */
	JOIN_ZIP = 8 << 8,    /* a list: all first elements, all second ones, while all have one */
	JOIN_WORST = 9 << 8,  /* an object: the one with the most throttled_ns */
	JOIN_NULL = 10 << 8,
	JOIN_OUT = 11 << 8, /* each has its own, and all together have none */
	JOIN_RULE = 15 << 8,
	JOIN_KNOWN = 16 << 8, /* with a rule: of those that know it */
};

struct sides {
	const json_t *const *all;
	size_t count;
	bool repeats; /* else ranks */
};

/* One object of several. NULL: no memory. */
json_t *join_objects(struct sides sides, const struct schema *fields);

/* The value of one key, which the fields have, of several objects. NULL: no memory. */
json_t *join_key(struct sides sides, const struct schema *fields, const char *key);
