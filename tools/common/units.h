/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.h -- sizes, durations, and lists of them, as people write them.
 *
 * Parsers take the whole string or nothing: 0, -EINVAL for a malformed text,
 * -ERANGE for a number that does not fit.
 */
#ifndef UNITS_H
#define UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_LIST_MAX	 4096
#define UNITS_TEXT_BYTES 32

struct units_list {
	size_t count;
	uint64_t *values; /* owned; units_list_free */
};

/* A plain decimal number. */
int units_parse_number(const char *text, uint64_t *value);

/* 64, 4K, 1MiB, 2G: suffixes are powers of 1024. */
int units_parse_size(const char *text, uint64_t *bytes);

/* 10s, 2ms, 500us, 1m, 1h; a bare number means seconds. */
int units_parse_duration(const char *text, uint64_t *ns);

/* Items separated by commas, each a size or LOW:HIGH:*FACTOR or LOW:HIGH:+STEP. */
int units_parse_sizes(const char *text, struct units_list *list);
void units_list_free(struct units_list *list);

/* "4 KiB" or, where that is not exact, "1500 B". */
const char *units_print_size(uint64_t bytes, char text[UNITS_TEXT_BYTES]);

/* "1.89 us": three significant digits. */
const char *units_print_duration(double ns, char text[UNITS_TEXT_BYTES]);

#endif /* UNITS_H */
