/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_schema.h -- does JSON of foreign origin have the form that a table gives?
 *
 * A table has the keys of an object, each with what its value must be; keys
 * that are not in it do not matter. Where something differs there is a text
 * that says what was expected, and where.
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
	FORM_WORD,
	FORM_FLAG,
	FORM_TRUE,
	FORM_LATENCY, /* of the schema; its figures agree with each other */
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

/* Of the words, separated by blanks, one? */
bool form_is_word(const json_t *value, const char *words);

/* False, with "PATH: expected WHAT". */
bool form_wrong(const struct form_place *place, const char *what);

#endif /* COMMON_JSON_JSON_SCHEMA_H */
