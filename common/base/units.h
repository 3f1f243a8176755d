/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.h -- sizes, durations, counts, fractions, and lists of them, as people
 * write them.
 *
 * Parsers take the whole string or nothing: 0, -EINVAL for a malformed text,
 * -ERANGE for a number that does not fit.
 */
#pragma once

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

/* 10s, 2ms, 0.5s, .5m, 1h; a bare number means seconds. */
int units_parse_duration(const char *text, uint64_t *ns);

/* 500, 10k, 2M: suffixes are powers of 1000. */
int units_parse_count(const char *text, uint64_t *count);

/* 0, 0.35, 1, 35%: millionths of one; more digits than that are malformed. */
int units_parse_fraction(const char *text, uint64_t *millionths);

typedef int units_parser(const char *text, uint64_t *value);

/*
 * Items separated by commas, each a value or a range: LOW:HIGH:+STEP, or
 * LOW:HIGH:*FACTOR, the factor above 1 and with up to three decimals (x stands
 * for * too). Both ends belong to a range, and each value is the one before it
 * times the factor, rounded.
 */
int units_parse_list(const char *text, units_parser *parse, struct units_list *list);
void units_list_free(struct units_list *list);

/* "0.35": what units_parse_fraction reads. */
const char *units_print_fraction(uint64_t millionths, char text[UNITS_TEXT_BYTES]);

/* "4 KiB" or, where that is not exact, "1500 B". */
const char *units_print_size(uint64_t bytes, char text[UNITS_TEXT_BYTES]);

/* "1.89 us": three significant digits. */
const char *units_print_duration(double ns, char text[UNITS_TEXT_BYTES]);

/* "45 s", "13 min 20 s", "2 h 05 min": how long something will take. */
const char *units_print_span(uint64_t seconds, char text[UNITS_TEXT_BYTES]);
