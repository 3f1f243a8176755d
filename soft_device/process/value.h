/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * value.h -- parsers of the values in the words of RPMA_SOFT: numbers, times, names.
 *
 * They read numbers by hand, because the program that the device serves may have set any locale.
 * Each returns false for a text that is not a value of its kind.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A list of words ends with a row of NULL, and so does one of units. */
struct value_word {
	const char *word;
	int value;
};

struct value_unit {
	const char *name;
	double factor;
};

bool value_word(const struct value_word *list, const char *text, int *value);

/* Decimal digits; low and high are allowed. */
bool value_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);

/* 12, 12.5 or .5, from 0 to high. */
bool value_decimal(const char *text, double high, double *value);

/* A decimal number and a unit, 12.5GB; high is in the unit of factor 1, and so is the value. */
bool value_scaled(const char *text, const struct value_unit *units, double high, uint64_t *value);

/* A time in ns, us, ms or s, up to an hour. */
#define VALUE_TIME_MAX_NS 3600e9
bool value_time_ns(const char *text, uint64_t *ns);

/* The name of an errno, ENOMEM. */
bool value_errno(const char *text, int *error);
