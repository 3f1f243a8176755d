/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_schema.h -- does JSON of foreign origin have the form that a table gives?
 *
 * A table has the keys of an object, each with what its value must be; keys
 * not in the table are ignored. A file that does not match is refused with an
 * error that names the path and the expected value; from a peer's report, only
 * the values that match are taken.
 */
#ifndef COMMON_JSON_JSON_SCHEMA_H
#define COMMON_JSON_JSON_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

#define FORM_WHY_MAX 256

enum form_kind {
	FORM_COUNT,    /* to 2^53: a thousand of them still add up */
	FORM_WHOLE,    /* not negative */
	FORM_NUMBER,   /* not negative */
	FORM_FRACTION, /* 0 to 1 */
	FORM_TEXT,     /* not empty */
	FORM_NAME,     /* a text of letters, digits and _-./: */
	FORM_WORD,
	FORM_FLAG,
	FORM_TRUE,
	FORM_LATENCY, /* as in the schema; its figures agree with each other */
	FORM_OBJECT,
	FORM_MAP, /* an object of any keys */
	FORM_LIST
};

enum form_may { FORM_NULL = 1, FORM_MISSING = 2 };

struct form {
	const char *key;
	enum form_kind kind;
	unsigned may;
	/* OBJECT: its fields, a key of NULL ends; MAP, LIST: what each element is; WORD: all words
	 */
	const void *more;
};

struct form_place {
	char path[128]; /* where we are: "repeat.threads[1].ops"; begins empty */
	char *why;	/* FORM_WHY_MAX bytes of the caller's */
};

bool form_check(const json_t *object, const struct form *fields, struct form_place *place);

#define FORM_TEXT_MAX	  512 /* bytes; what is longer is not taken */
#define FORM_ELEMENTS_MAX 512 /* elements taken from a list or a map; further ones are dropped */
/*
 * A copy of an object with the keys of the table, of those that have their form. What may
 * be null is null where it has not, what may be missing is missing; an element of a list
 * or a map is left out. Percentiles are recomputed. NULL: something that it must
 * have is not there, or no memory.
 */
json_t *form_take(const json_t *object, const struct form *fields);

/* Is it one of the words, which blanks separate? */
bool form_is_word(const json_t *value, const char *words);

/* False, with "PATH: expected WHAT". */
bool form_wrong(const struct form_place *place, const char *what);

#endif /* COMMON_JSON_JSON_SCHEMA_H */
