/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes.c -- the values of --size: sizes and their ranges, and mixes, which the series
 * owns and a value stands for.
 */
#include "axes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/rpma-bench/protocol/params.h"

int shape_parse_arrivals(const char *text, uint64_t *value)
{
	static const char burst[] = "burst:";

	if (strncmp(text, burst, strlen(burst)) == 0) {
		int ret = units_parse_number(text + strlen(burst), value);

		return ret ? ret : *value < 2 ? -ERANGE : 0;
	}
	*value = strcmp(text, "poisson") == 0 ? PARAMS_POISSON : PARAMS_EVEN;
	return *value == PARAMS_POISSON || strcmp(text, "even") == 0 ? 0 : -EINVAL;
}

#define ZIPF_THETA 990000 /* as YCSB has it */

/* units_parse_fraction() ends at 1: the whole part is apart. */
static int parse_theta(const char *text, uint64_t *value)
{
	char whole[4] = "", part[12] = "0";
	uint64_t number = 0, millionths = 0;
	size_t digits = strcspn(text, ".");
	int ret;

	if (digits == 0 || digits >= sizeof(whole) || strlen(text + digits) >= sizeof(part) - 1)
		return -EINVAL;
	memcpy(whole, text, digits);
	snprintf(part + 1, sizeof(part) - 1, "%s", text + digits);
	ret = units_parse_number(whole, &number);
	if (ret == 0)
		ret = strchr(part, '%') != NULL ? -EINVAL : units_parse_fraction(part, &millionths);
	*value = number * PARAMS_MILLION + millionths;
	return ret ? ret : *value < PARAMS_ZIPF_MIN ? -ERANGE : 0;
}

int shape_parse_pattern(const char *text, uint64_t *value)
{
	static const char zipf[] = "zipf:";

	for (*value = BENCH_SEQ; *value < BENCH_PATTERNS; ++*value) {
		if (strcmp(text, params_patterns[*value]) == 0)
			return 0;
	}
	*value = ZIPF_THETA;
	if (strcmp(text, "zipf") == 0)
		return 0;
	return strncmp(text, zipf, strlen(zipf)) == 0 ? parse_theta(text + strlen(zipf), value)
						      : -EINVAL;
}

const char *shape_print_pattern(uint64_t value, char text[UNITS_TEXT_BYTES])
{
	if (value < BENCH_PATTERNS)
		return params_patterns[value];
	snprintf(text, UNITS_TEXT_BYTES, "zipf:%.7g", (double)value / PARAMS_MILLION);
	return text;
}

const char *shape_print_arrivals(uint64_t value, char text[UNITS_TEXT_BYTES])
{
	if (value <= PARAMS_POISSON)
		return value == PARAMS_EVEN ? "even" : "poisson";
	snprintf(text, UNITS_TEXT_BYTES, "burst:%llu", (unsigned long long)value);
	return text;
}

int shape_parse_list(const char *text, units_parser *parse, struct units_list *list)
{
	struct units_list parsed = {0, calloc(UNITS_LIST_MAX, sizeof(uint64_t))};
	char *copy = strdup(text), *rest = copy;
	int ret = parsed.values == NULL || copy == NULL ? -ENOMEM : 0;

	while (ret == 0 && rest != NULL) {
		const char *item = strsep(&rest, ",");

		ret = parsed.count < UNITS_LIST_MAX ? parse(item, &parsed.values[parsed.count++])
						    : -ERANGE;
	}
	free(copy);
	if (ret)
		units_list_free(&parsed);
	else
		*list = parsed;
	return ret;
}

uint64_t sizes_value_of_mix(const struct size_mix *mix)
{
	return SIZES_MIX | size_mix_hash(mix);
}

void sizes_drop_mixes(struct series *series, size_t left)
{
	while (series->mixes_count > left)
		free(series->mixes[--series->mixes_count]);
	if (left > 0)
		return;
	free(series->mixes);
	series->mixes = NULL;
}

static int add_mix(struct series *series, const char *text, uint64_t *value)
{
	struct size_mix **mixes =
		realloc(series->mixes, (series->mixes_count + 1) * sizeof(*mixes));
	struct size_mix *mix = malloc(sizeof(*mix));
	int ret;

	if (mixes != NULL)
		series->mixes = mixes;
	ret = mixes == NULL || mix == NULL ? -ENOMEM : size_mix_parse(text, PARAMS_SIZE_MAX, mix);
	if (ret) {
		free(mix);
		return ret;
	}
	series->mixes[series->mixes_count++] = mix;
	*value = sizes_value_of_mix(mix);
	return 0;
}

static int add_values(struct units_list *list, const struct units_list *more)
{
	if (list->count + more->count > UNITS_LIST_MAX)
		return -ERANGE;
	memcpy(list->values + list->count, more->values, more->count * sizeof(uint64_t));
	list->count += more->count;
	return 0;
}

/* An item with a slash is a mix; the others are sizes and ranges of them. */
int sizes_parse(struct series *series, const char *text, struct units_list *list)
{
	struct units_list parsed = {0, calloc(UNITS_LIST_MAX, sizeof(uint64_t))};
	char *copy = strdup(text), *rest = copy;
	int ret = parsed.values == NULL || copy == NULL ? -ENOMEM : 0;

	while (ret == 0 && rest != NULL) {
		const char *item = strsep(&rest, ",");
		struct units_list more = {0, NULL};
		uint64_t mix = 0;

		if (strchr(item, '/') != NULL) {
			struct units_list one = {1, &mix};

			ret = add_mix(series, item, &mix);
			ret = ret ? ret : add_values(&parsed, &one);
			continue;
		}
		ret = units_parse_list(item, units_parse_size, &more);
		ret = ret ? ret : add_values(&parsed, &more);
		units_list_free(&more);
	}
	free(copy);
	if (ret)
		units_list_free(&parsed);
	else
		*list = parsed;
	return ret;
}

const struct size_mix *series_mix(const struct series *series, uint64_t value)
{
	for (size_t i = 0; value >= SIZES_MIX && i < series->mixes_count; i++) {
		if (sizes_value_of_mix(series->mixes[i]) == value)
			return series->mixes[i];
	}
	return NULL;
}
