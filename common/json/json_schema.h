/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_schema.h -- does JSON of foreign origin match a table?
 *
 * A table has the keys of an object, each with what its value must be; keys
 * not in the table are ignored. A file that does not match is refused with an
 * error that names the path and the expected value; from a peer's report, only
 * the values that match are taken.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#define SCHEMA_WHY_MAX 256

enum schema_kind {
	SCHEMA_COUNT,	 /* to 2^53: a thousand of them still add up */
	SCHEMA_WHOLE,	 /* not negative */
	SCHEMA_WHOLE_32, /* to 2^32 - 1 */
	SCHEMA_NUMBER,	 /* not negative */
	SCHEMA_FRACTION, /* 0 to 1 */
	SCHEMA_TEXT,	 /* not empty */
	SCHEMA_NAME,	 /* a text of letters, digits and _-./: */
	SCHEMA_STRING,	 /* a text that may be empty */
	SCHEMA_WORD,
	SCHEMA_ERROR, /* the name of an errno, or a word */
	SCHEMA_FLAG,
	SCHEMA_TRUE,
	SCHEMA_LATENCY, /* as in the schema; its figures agree with each other */
	SCHEMA_OBJECT,
	SCHEMA_MAP, /* an object of any keys */
	SCHEMA_LIST
};

/* Bits from 256 on are the table's own. */
enum schema_may { SCHEMA_NULL = 1, SCHEMA_MISSING = 2 };

struct schema {
	const char *key;
	enum schema_kind kind;
	unsigned may;
	/*
	 * OBJECT: its fields, a key of NULL ends; MAP, LIST: what each element is; WORD,
	 * ERROR: all words, separated by blanks
	 */
	const void *more;
};

struct schema_position {
	char path[128]; /* where we are: "repeat.threads[1].ops"; begins empty */
	char *why;	/* SCHEMA_WHY_MAX bytes of the caller's */
};

bool schema_check(const json_t *object, const struct schema *fields,
		  struct schema_position *position);

#define SCHEMA_TEXT_MAX 512 /* bytes; what is longer is not taken */
/* Elements taken from a list or a map; further ones are dropped. */
#define SCHEMA_ELEMENTS_MAX 512

/*
 * A copy of an object with the keys of the table, of those whose values match. What may
 * be null is null where it has not, what may be missing is missing; an element of a list
 * or a map is left out. Percentiles are recomputed. NULL: something that it must
 * have is not there, or no memory.
 */
json_t *schema_take(const json_t *object, const struct schema *fields);

/* The number of "EACCES"; 0: no errno has that name. */
int schema_errno(const char *name);

/* False, with "PATH: expected WHAT". */
bool schema_wrong(const struct schema_position *position, const char *what);
