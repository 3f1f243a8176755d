/* SPDX-License-Identifier: BSD-3-Clause */
/* size_mix.c -- parses mixes of sizes, and draws from them. */
#include "params.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/units.h"
#include "names/random.h"

static bool has_size(const struct size_mix *mix, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < mix->count; i++) {
		if (mix->size_bytes[i] == size_bytes)
			return true;
	}
	return false;
}

/* SIZE/PERCENT */
static int add(struct size_mix *mix, char *item, uint64_t max)
{
	const char *size = strsep(&item, "/"), *share = item;
	uint64_t size_bytes = 0, percent = 0;

	if (share == NULL || mix->count == SIZE_MIX_MAX || units_parse_size(size, &size_bytes) ||
	    units_parse_number(share, &percent))
		return -EINVAL;
	if (size_bytes < 1 || size_bytes > max || percent < 1 || percent > 100 ||
	    has_size(mix, size_bytes))
		return -EINVAL;
	mix->size_bytes[mix->count] = size_bytes;
	mix->percent[mix->count++] = (uint32_t)percent;
	return 0;
}

int size_mix_parse(const char *text, uint64_t max, struct size_mix *mix)
{
	char *copy = strdup(text), *rest = copy;
	uint32_t sum = 0;
	int ret = copy != NULL ? 0 : -ENOMEM;

	*mix = (struct size_mix){.count = 0};
	while (ret == 0 && rest != NULL)
		ret = add(mix, strsep(&rest, ":"), max);
	free(copy);
	for (uint32_t i = 0; i < mix->count; i++)
		sum += mix->percent[i];
	return ret == 0 && sum != 100 ? -EINVAL : ret;
}

uint64_t size_mix_largest(const struct size_mix *mix)
{
	uint64_t largest = 0;

	for (uint32_t i = 0; i < mix->count; i++)
		largest = mix->size_bytes[i] > largest ? mix->size_bytes[i] : largest;
	return largest;
}

uint64_t size_mix_mean(const struct size_mix *mix)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < mix->count; i++)
		sum += mix->size_bytes[i] * mix->percent[i];
	return (sum + 50) / 100;
}

/* Sizes beyond the count are 0, and no size is. */
int size_mix_compare(const struct size_mix *a, const struct size_mix *b)
{
	int order;

	if (a == NULL || b == NULL)
		return (a != NULL) - (b != NULL);
	order = memcmp(a->size_bytes, b->size_bytes, sizeof(a->size_bytes));
	return order != 0 ? order : memcmp(a->percent, b->percent, sizeof(a->percent));
}

const char *size_mix_print(const struct size_mix *mix, char text[SIZE_MIX_TEXT_MAX])
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < mix->count && used < SIZE_MIX_TEXT_MAX; i++)
		used += (size_t)snprintf(text + used, SIZE_MIX_TEXT_MAX - used, "%s%llu/%u",
					 i > 0 ? ":" : "", (unsigned long long)mix->size_bytes[i],
					 mix->percent[i]);
	return text;
}

void size_mix_draw(const struct size_mix *mix, uint64_t seed, uint32_t draws[SIZE_MIX_DRAWS])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < mix->count; i++) {
		for (uint32_t k = 0; k < mix->percent[i] * (SIZE_MIX_DRAWS / 100); k++)
			draws[count++] = (uint32_t)mix->size_bytes[i];
	}
	for (uint32_t i = SIZE_MIX_DRAWS; i > 1; i--) {
		uint32_t k = (uint32_t)(random_next(&seed) % i), draw = draws[i - 1];

		draws[i - 1] = draws[k];
		draws[k] = draw;
	}
}
