/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h -- which points a run has, and in which order they are measured.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "../common/units.h"

struct plan_point {
	uint64_t size_bytes;
	uint32_t depth;
};

struct plan_item {
	size_t point;
	uint32_t repeat;
};

struct plan {
	size_t points_count;
	struct plan_point *points; /* product of the axes, sizes varying fastest */
	size_t items_count;
	struct plan_item *items; /* every repeat of every point, shuffled */
};

/* The same seed gives the same order on every machine. */
int plan_make(struct plan *plan, const struct units_list *sizes, const struct units_list *depths,
	      uint32_t repeats, uint64_t seed);
void plan_free(struct plan *plan);

#endif /* PLAN_H */
