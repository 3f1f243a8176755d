/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * units.c -- parse and print sizes, durations, lists and ranges.
 *
 * Used by the option tables of all tools. Nothing here guesses: a suffix is
 * known or the text is refused, and a product that overflows is an error.
 */
#include "units.h"

#include <errno.h>
#include <stdbool.h>
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

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The quarter of a second in ".25s"; less than 1 is 0. */
static uint64_t part_of(uint64_t unit, const char *digits)
{
	uint64_t sum = 0;

	for (; is_digit(*digits); digits++) {
		unit /= 10;
		sum += unit * (uint64_t)(*digits - '0');
	}
	return sum;
}

/* fractions: may the number have a part behind a point? */
static int parse(const char *text, const struct suffix *suffixes, bool fractions, uint64_t *value)
{
	uint64_t number = 0;
	const char *s = text, *fraction = "";
	size_t whole = strspn(text, "0123456789");

	if (fractions && text[whole] == '.' && is_digit(text[whole + 1]))
		fraction = text + whole + 1;
	if (whole == 0 && *fraction == '\0')
		return -EINVAL;
	for (; is_digit(*s); s++) {
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*s - '0'), &number))
			return -ERANGE;
	}
	if (*fraction != '\0')
		s = fraction + strspn(fraction, "0123456789");
	while (suffixes->name != NULL && strcmp(s, suffixes->name) != 0)
		suffixes++;
	if (suffixes->name == NULL)
		return -EINVAL;
	if (__builtin_mul_overflow(number, suffixes->factor, &number) ||
	    __builtin_add_overflow(number, part_of(suffixes->factor, fraction), &number))
		return -ERANGE;
	*value = number;
	return 0;
}

int units_parse_number(const char *text, uint64_t *value)
{
	static const struct suffix none[] = {{"", 1}, {NULL, 0}};

	return parse(text, none, false, value);
}

int units_parse_size(const char *text, uint64_t *bytes)
{
	return parse(text, size_suffixes, false, bytes);
}

int units_parse_duration(const char *text, uint64_t *ns)
{
	return parse(text, duration_suffixes, true, ns);
}

int units_parse_count(const char *text, uint64_t *count)
{
	static const struct suffix suffixes[] = {
		{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0}};

	return parse(text, suffixes, false, count);
}

/* A decimal number in units of 10^-decimals; the text after it is left in *end. */
static int parse_decimal(const char *text, unsigned decimals, uint64_t *value, const char **end)
{
	uint64_t number = 0;
	bool point = false;
	const char *s = text;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; (*s >= '0' && *s <= '9') || (*s == '.' && !point); s++) {
		if (*s == '.') {
			point = true;
			if (s[1] < '0' || s[1] > '9')
				return -EINVAL;
			continue;
		}
		if (point && decimals-- == 0)
			return -EINVAL;
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*s - '0'), &number))
			return -ERANGE;
	}
	for (; decimals > 0; decimals--) {
		if (__builtin_mul_overflow(number, 10, &number))
			return -ERANGE;
	}
	*value = number;
	*end = s;
	return 0;
}

int units_parse_fraction(const char *text, uint64_t *millionths)
{
	bool percent = text[0] != '\0' && text[strlen(text) - 1] == '%';
	const char *end;
	uint64_t value;
	int ret = parse_decimal(text, percent ? 4 : 6, &value, &end);

	if (ret || strcmp(end, percent ? "%" : "") != 0)
		return ret ? ret : -EINVAL;
	if (value > 1000000)
		return -ERANGE;
	*millionths = value;
	return 0;
}

static int append(struct units_list *list, uint64_t value)
{
	if (list->count == UNITS_LIST_MAX)
		return -ERANGE;
	list->values[list->count++] = value;
	return 0;
}

struct range {
	uint64_t low;
	uint64_t high;
	uint64_t step;	      /* 0: it is a factor */
	uint64_t thousandths; /* the factor's thousandths */
};

static int parse_range(char *item, units_parser *value, struct range *range)
{
	const char *low = strsep(&item, ":"), *high = strsep(&item, ":"), *step = item, *end;

	*range = (struct range){0};
	if (high == NULL || step == NULL || value(low, &range->low) != 0 ||
	    value(high, &range->high) != 0 || range->low > range->high)
		return -EINVAL;
	if (*step == '+')
		return value(step + 1, &range->step) || range->step == 0 ? -EINVAL : 0;
	if ((*step != '*' && *step != 'x') ||
	    parse_decimal(step + 1, 3, &range->thousandths, &end) != 0 || *end != '\0' ||
	    range->thousandths <= 1000 || range->low == 0)
		return -EINVAL;
	return 0;
}

/* False at the end of the range; a small number times little more than 1 still grows. */
static bool next_in_range(const struct range *range, uint64_t *value)
{
	unsigned __int128 next = *value;

	if (range->step != 0)
		next += range->step;
	else
		next = (next * range->thousandths + 500) / 1000;
	if (next == *value)
		next++;
	if (next > range->high)
		return false;
	*value = (uint64_t)next;
	return true;
}

static int append_item(struct units_list *list, units_parser *parse_value, char *item)
{
	struct range range;
	uint64_t value;
	int ret;

	if (strchr(item, ':') == NULL) {
		ret = parse_value(item, &value);
		return ret ? ret : append(list, value);
	}
	ret = parse_range(item, parse_value, &range);
	value = range.low;
	while (ret == 0) {
		ret = append(list, value);
		if (!next_in_range(&range, &value))
			break;
	}
	return ret;
}

int units_parse_list(const char *text, units_parser *parse_value, struct units_list *list)
{
	struct units_list parsed = {0, calloc(UNITS_LIST_MAX, sizeof(uint64_t))};
	char *copy = strdup(text);
	int ret = parsed.values == NULL || copy == NULL ? -ENOMEM : 0;
	char *rest = copy;
	uint64_t *trimmed;

	while (ret == 0 && rest != NULL)
		ret = append_item(&parsed, parse_value, strsep(&rest, ","));
	free(copy);
	if (ret) {
		units_list_free(&parsed);
		return ret;
	}
	trimmed = realloc(parsed.values, parsed.count * sizeof(uint64_t));
	if (trimmed != NULL)
		parsed.values = trimmed;
	*list = parsed;
	return 0;
}

void units_list_free(struct units_list *list)
{
	free(list->values);
	list->values = NULL;
	list->count = 0;
}

const char *units_print_fraction(uint64_t millionths, char text[UNITS_TEXT_BYTES])
{
	int length = snprintf(text, UNITS_TEXT_BYTES, "%llu.%06llu",
			      (unsigned long long)(millionths / 1000000),
			      (unsigned long long)(millionths % 1000000));

	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[--length] = '\0';
	return text;
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

const char *units_print_span(uint64_t seconds, char text[UNITS_TEXT_BYTES])
{
	unsigned long long s = seconds;

	if (s < 60)
		snprintf(text, UNITS_TEXT_BYTES, "%llu s", s);
	else if (s < 3600)
		snprintf(text, UNITS_TEXT_BYTES, "%llu min %02llu s", s / 60, s % 60);
	else
		snprintf(text, UNITS_TEXT_BYTES, "%llu h %02llu min", s / 3600, s % 3600 / 60);
	return text;
}
