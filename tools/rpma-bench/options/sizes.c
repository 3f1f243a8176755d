/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes.c -- the values of --size: sizes and their ranges, and mixes, which the series
 * owns; and theta, a number with a point that may be above 1.
 */
#include "axes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* units_parse_fraction() ends at 1: the whole part is apart. */
int sizes_parse_theta(const char *text, uint64_t *value)
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
	return ret;
}

void sizes_free(struct series *series)
{
	struct units_list *sizes = &series->values[AXIS_SIZE];

	for (size_t i = 0; i < sizes->count; i++)
		free(series->mixes[i]);
	free(series->mixes);
	series->mixes = NULL;
	units_list_free(sizes);
}

/* Takes the mix, if it gives 0; NULL: one size. */
static int add_size(struct series *series, uint64_t size_bytes, struct size_mix *mix)
{
	struct units_list *sizes = &series->values[AXIS_SIZE];

	if (size_bytes < 1 || size_bytes > PARAMS_SIZE_MAX || sizes->count == UNITS_LIST_MAX)
		return -ERANGE;
	/* there twice it would be the same point twice */
	for (size_t i = 0; i < sizes->count; i++) {
		if (sizes->values[i] == size_bytes && size_mix_compare(series->mixes[i], mix) == 0)
			return -EINVAL;
	}
	series->mixes[sizes->count] = mix;
	sizes->values[sizes->count++] = size_bytes;
	return 0;
}

static int add_mix(struct series *series, const char *text)
{
	struct size_mix *mix = malloc(sizeof(*mix));
	int ret = mix != NULL ? size_mix_parse(text, PARAMS_SIZE_MAX, mix) : -ENOMEM;

	ret = ret ? ret : add_size(series, size_mix_largest(mix), mix);
	if (ret)
		free(mix);
	return ret;
}

static int add_range(struct series *series, const char *text)
{
	struct units_list range = {0, NULL};
	int ret = units_parse_list(text, units_parse_size, &range);

	for (size_t i = 0; ret == 0 && i < range.count; i++)
		ret = add_size(series, range.values[i], NULL);
	units_list_free(&range);
	return ret;
}

/* An item with a slash is a mix; the others are sizes and ranges of them. */
int sizes_parse(struct series *series, const char *text)
{
	char *copy = strdup(text), *rest = copy;
	int ret = 0;

	series->values[AXIS_SIZE].values = calloc(UNITS_LIST_MAX, sizeof(uint64_t));
	series->mixes = calloc(UNITS_LIST_MAX, sizeof(*series->mixes));
	if (copy == NULL || series->values[AXIS_SIZE].values == NULL || series->mixes == NULL)
		ret = -ENOMEM;
	while (ret == 0 && rest != NULL) {
		const char *item = strsep(&rest, ",");

		ret = strchr(item, '/') != NULL ? add_mix(series, item) : add_range(series, item);
	}
	free(copy);
	return ret;
}
