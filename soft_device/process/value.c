/* SPDX-License-Identifier: BSD-3-Clause */
/* value.c -- see value.h; called by options.c and by the faults. */
#include "value.h"

#include <stddef.h>
#include <string.h>

#define ERRNO_END 4096 /* the kernel's MAX_ERRNO is one less */

bool value_word(const struct value_word *list, const char *text, int *value)
{
	for (; list->word != NULL; list++) {
		if (strcmp(list->word, text) == 0) {
			*value = list->value;
			return true;
		}
	}
	return false;
}

bool value_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t n = 0;

	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		uint64_t digit = (uint64_t)(*text - '0');

		if (*text < '0' || *text > '9' || n > (high - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*value = n;
	return n >= low;
}

/* Gives what follows the number, NULL if there is none. */
static const char *read_decimal(const char *text, double *value)
{
	const char *start = text;
	double digit = 1;
	size_t digits;

	*value = 0;
	for (; *text >= '0' && *text <= '9'; text++)
		*value = *value * 10 + (*text - '0');
	digits = (size_t)(text - start);
	if (*text != '.')
		return digits > 0 ? text : NULL;
	for (start = ++text; *text >= '0' && *text <= '9'; text++) {
		digit /= 10;
		*value += (*text - '0') * digit;
	}
	return digits > 0 || text > start ? text : NULL;
}

bool value_decimal(const char *text, double high, double *value)
{
	const char *end = read_decimal(text, value);

	return end != NULL && *end == '\0' && *value <= high;
}

bool value_scaled(const char *text, const struct value_unit *units, double high, uint64_t *value)
{
	double number;
	const char *unit = read_decimal(text, &number);

	for (; unit != NULL && units->name != NULL; units++) {
		if (strcmp(units->name, unit) != 0)
			continue;
		number *= units->factor;
		if (number > high)
			return false;
		*value = (uint64_t)(number + 0.5);
		return true;
	}
	return false;
}

bool value_time_ns(const char *text, uint64_t *ns)
{
	static const struct value_unit units[] = {
		{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};

	return value_scaled(text, units, VALUE_TIME_MAX_NS, ns);
}

bool value_errno(const char *text, int *error)
{
	for (int number = 1; number < ERRNO_END; number++) {
		const char *name = strerrorname_np(number);

		if (name != NULL && strcmp(name, text) == 0) {
			*error = number;
			return true;
		}
	}
	return false;
}
