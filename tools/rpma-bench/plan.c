/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c -- the product of the axes, and a seeded shuffle of its repeats.
 *
 * Shuffling spreads a slow drift of the machine over all points instead of
 * bending a curve.
 */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64, by Sebastiano Vigna; public domain. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* Fisher-Yates; the bias of a modulo is far below what an order could show. */
static void shuffle(struct plan_item *items, size_t count, uint64_t seed)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)(next_random(&seed) % i);
		struct plan_item item = items[i - 1];

		items[i - 1] = items[k];
		items[k] = item;
	}
}

int plan_make(struct plan *plan, const struct units_list *sizes, const struct units_list *depths,
	      uint32_t repeats, uint64_t seed)
{
	struct plan p = {.points_count = sizes->count * depths->count};
	size_t n = 0;

	p.items_count = p.points_count * repeats;
	p.points = calloc(p.points_count, sizeof(*p.points));
	p.items = calloc(p.items_count, sizeof(*p.items));
	if (p.points == NULL || p.items == NULL) {
		plan_free(&p);
		return -ENOMEM;
	}
	for (size_t d = 0; d < depths->count; d++) {
		for (size_t s = 0; s < sizes->count; s++)
			p.points[n++] =
				(struct plan_point){sizes->values[s], (uint32_t)depths->values[d]};
	}
	for (size_t i = 0; i < p.items_count; i++)
		p.items[i] = (struct plan_item){i % p.points_count, (uint32_t)(i / p.points_count)};
	shuffle(p.items, p.items_count, seed);
	*plan = p;
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan->points);
	free(plan->items);
	memset(plan, 0, sizeof(*plan));
}
