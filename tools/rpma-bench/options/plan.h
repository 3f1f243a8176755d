/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h -- which points a run has, and in which order they are measured.
 *
 * A series is a value, or several, of each axis; its points are the product.
 * A run is the points of all its series, each repeated, in a seeded shuffle.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/rpma-bench/protocol/params.h"

#define PLAN_POINTS_MAX 100000
#define PLAN_TRIALS_MAX 1000000

struct series;		/* axes.h */
struct target_selector; /* target_selector.h */

struct plan_trial {
	size_t point;
	uint32_t repeat;
};

struct plan {
	size_t points_count;
	struct params *points; /* in the order of the series; of one, sizes vary fastest */
	unsigned varying;      /* bits 1 << axis: not all points have the same value there */
	size_t trials_count;
	struct plan_trial *trials; /* every repeat of every point, shuffled round by round */
};

/* A random one, that every reader of JSON keeps exactly; -EIO with the error message set. */
int plan_seed(uint64_t *seed);

/*
 * The same seed gives the same order on every machine. A point that two series
 * share is there once. -EINVAL with the error message set for values that do not
 * go together or are too many; -EIO: no memory.
 */
int plan_make(struct plan *plan, const struct series *series, size_t series_count, uint32_t repeats,
	      uint64_t seed);
/* Adds a point, and repeats of a point behind those it has; -EIO: no memory. */
int plan_add_point(struct plan *plan, const struct params *params);
int plan_add_trials(struct plan *plan, size_t point, uint32_t repeats);
void plan_free(struct plan *plan);

/* The largest value a point has on an axis (axes.h). */
uint64_t plan_most(const struct plan *plan, int axis);

#define PLAN_DESCRIPTION_MAX 256
/* "size 4 KiB, depth 8": a point by what tells it from the others of the plan. */
const char *plan_describe(const struct plan *plan, size_t point,
			  const struct target_selector *selector, char text[PLAN_DESCRIPTION_MAX]);

/* All axes of a point by their names, for machines; NULL: no memory. */
json_t *plan_point_json(const struct plan *plan, size_t point,
			const struct target_selector *selector);
