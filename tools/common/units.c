/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.c -- parse and print sizes, durations, lists and ranges.
 *
 * Used by the option tables of all tools. Nothing here guesses: a suffix is
 * known or the text is refused, and a product that overflows is an error.
 */
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix size_suffixes[] = {
	{"", 1},	   {"B", 1},
	{"K", 1ULL << 10}, {"KiB", 1ULL << 10},
	{"M", 1ULL << 20}, {"MiB", 1ULL << 20},
	{"G", 1ULL << 30}, {"GiB", 1ULL << 30},
	{"T", 1ULL << 40}, {"TiB", 1ULL << 40},
	{NULL, 0},
};

static const struct suffix duration_suffixes[] = {
	{"", 1000000000ULL},
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000ULL},
	{"m", 60 * 1000000000ULL},
	{"h", 3600 * 1000000000ULL},
	{NULL, 0},
};

static int parse(const char *text, const struct suffix *suffixes, uint64_t *value)
{
	uint64_t number = 0;
	const char *s = text;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*s - '0'), &number))
			return -ERANGE;
	}
	while (suffixes->name != NULL && strcmp(s, suffixes->name) != 0)
		suffixes++;
	if (suffixes->name == NULL)
		return -EINVAL;
	if (__builtin_mul_overflow(number, suffixes->factor, &number))
		return -ERANGE;
	*value = number;
	return 0;
}

int units_parse_number(const char *text, uint64_t *value)
{
	static const struct suffix none[] = {{"", 1}, {NULL, 0}};

	return parse(text, none, value);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, size_suffixes, bytes);
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	return parse(text, duration_suffixes, ns);
}

static int append(struct units_list *list, uint64_t value)
{
	if (list->count == UNITS_LIST_MAX)
		return -ERANGE;
	list->values[list->count++] = value;
	return 0;
}

/* LOW:HIGH:*FACTOR or LOW:HIGH:+STEP; both ends belong to the range. */
static int append_range(struct units_list *list, char *item)
{
	const char *low_text = strsep(&item, ":");
	const char *high_text = strsep(&item, ":");
	const char *step_text = item;
	uint64_t low, high, step;
	int ret;

	if (low_text == NULL || high_text == NULL || step_text == NULL)
		return -EINVAL;
	if (units_parse_size(low_text, &low) || units_parse_size(high_text, &high) || low > high)
		return -EINVAL;
	if (*step_text == '*')
		ret = units_parse_number(step_text + 1, &step) || step < 2 || low == 0;
	else if (*step_text == '+')
		ret = units_parse_size(step_text + 1, &step) || step == 0;
	else
		ret = -EINVAL;
	if (ret)
		return -EINVAL;
	for (uint64_t value = low; value <= high;) {
		ret = append(list, value);
		if (ret)
			return ret;
		if (*step_text == '*' ? __builtin_mul_overflow(value, step, &value)
				      : __builtin_add_overflow(value, step, &value))
			break;
	}
	return 0;
}

static int append_item(struct units_list *list, char *item)
{
	uint64_t value;
	int ret;

	if (strchr(item, ':') != NULL)
		return append_range(list, item);
	ret = units_parse_size(item, &value);
	return ret ? ret : append(list, value);
}

int units_parse_sizes(const char *text, struct units_list *list)
{
	struct units_list parsed = {0, calloc(UNITS_LIST_MAX, sizeof(uint64_t))};
	char *copy = strdup(text);
	int ret = parsed.values == NULL || copy == NULL ? -ENOMEM : 0;
	char *rest = copy;

	while (ret == 0 && rest != NULL)
		ret = append_item(&parsed, strsep(&rest, ","));
	free(copy);
	if (ret) {
		units_list_free(&parsed);
		return ret;
	}
	*list = parsed;
	return 0;
}

void units_list_free(struct units_list *list)
{
	free(list->values);
	list->values = NULL;
	list->count = 0;
}

const char *units_print_size(uint64_t bytes, char text[UNITS_TEXT_BYTES])
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (unit < 4 && bytes != 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, UNITS_TEXT_BYTES, "%llu %s", (unsigned long long)bytes, names[unit]);
	return text;
}

const char *units_print_duration(double ns, char text[UNITS_TEXT_BYTES])
{
	static const char *const names[] = {"ns", "us", "ms", "s"};
	size_t unit = 0;
	int digits;

	/* 999.5 would print as 1000 in its unit */
	while (unit < 3 && ns >= 999.5) {
		ns /= 1000;
		unit++;
	}
	digits = ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2;
	snprintf(text, UNITS_TEXT_BYTES, "%.*f %s", unit == 0 ? 0 : digits, ns, names[unit]);
	return text;
}
