/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c -- the product of the axes, and a seeded shuffle of its repeats.
 *
 * Shuffling spreads a slow drift of the machine over all points instead of
 * bending a curve; it goes round by round, each point once a round, so that a
 * point whose figures agree needs no part in later rounds.
 */
#include "plan.h"

#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "axes.h"
#include "common/base/failure.h"
#include "names/random.h"
#include "target_selector.h"

#define SEED_MASK ((1ULL << 53) - 1) /* doubles keep 53 bits */

/* A plan in the making: points are found again in a tree of pointers to them. */
struct builder {
	struct plan plan;
	size_t room;
	void *known;
};

static int out_of_memory(void)
{
	return failure_set(EXIT_INTERNAL, "plan", "out of memory");
}

static int compare(const void *a, const void *b)
{
	int order = 0;

	for (int axis = 0; axis < AXES && order == 0; axis++)
		order = axis_compare(a, b, (enum axis_id)axis);
	return order;
}

static void keep(void *node)
{
	(void)node; /* the tree borrows */
}

/* The points never move: their room was made for all series at once. */
static int add_point(struct builder *b, const struct params *params)
{
	struct params *point = &b->plan.points[b->plan.points_count];
	const char *conflict = params_conflict(params);
	struct params *const *node;

	if (conflict != NULL)
		return failure_usage("%s", conflict);
	*point = *params;
	node = tsearch(point, &b->known, compare);
	if (node == NULL)
		return out_of_memory();
	b->plan.points_count += *node == point;
	return 0;
}

static int add_sizes(struct builder *b, const struct series *series, struct params *params)
{
	const struct units_list *sizes = &series->values[AXIS_SIZE];
	const uint64_t *values = sizes->values;
	size_t count = sizes->count;
	int ret = 0;

	if (count == 0)
		values = axis_default_sizes(params, &count);
	for (size_t i = 0; i < count && ret == 0; i++) {
		params->size_bytes = values[i];
		params->mix = sizes->count > 0 ? series->mixes[i] : NULL;
		ret = add_point(b, params);
	}
	return ret;
}

static bool has_test(const struct series *series, enum bench_test test)
{
	const struct units_list *tests = &series->values[AXIS_TEST];

	for (size_t i = 0; i < tests->count; i++) {
		if (tests->values[i] == test)
			return true;
	}
	return false;
}

/* Drops what belongs to another test of the series: --rate from lat in lat,rate. */
static void drop_foreign(const struct series *series, struct params *params)
{
	if (params->test != BENCH_RATE && has_test(series, BENCH_RATE)) {
		params->rate_per_s = 0;
		params->arrivals = (struct variant){BENCH_EVEN, 0};
	}
	if (params->test != BENCH_MIX && has_test(series, BENCH_MIX))
		params->read_millionths = 0;
}

/* The index'th combination of all axes but sizes; the last axis varies fastest. */
static void combine(const struct series *series, size_t index, struct params *params)
{
	memset(params, 0, sizeof(*params));
	for (int axis = AXES - 1; axis >= 0; axis--) {
		const struct units_list *list = &series->values[axis];

		if (axis == AXIS_SIZE || list->count == 0)
			continue;
		axis_put(params, (enum axis_id)axis, list->values[index % list->count]);
		index /= list->count;
	}
	for (int axis = 0; axis < AXES; axis++) {
		if (axis != AXIS_SIZE && series->values[axis].count == 0)
			axis_put(params, (enum axis_id)axis,
				 axis_default(params, (enum axis_id)axis));
	}
	drop_foreign(series, params);
}

static size_t combinations(const struct series *series)
{
	size_t product = 1;

	for (int axis = 0; axis < AXES; axis++) {
		size_t count = series->values[axis].count;

		if (axis != AXIS_SIZE && count != 0 &&
		    __builtin_mul_overflow(product, count, &product))
			return SIZE_MAX;
	}
	return product;
}

/* No more than the default sizes where none are given. */
static size_t room_for(const struct series *series)
{
	size_t sizes = series->values[AXIS_SIZE].count, points;

	if (sizes == 0)
		axis_default_sizes(&(struct params){0}, &sizes);
	if (__builtin_mul_overflow(combinations(series), sizes, &points))
		return SIZE_MAX;
	return points;
}

static int make_room(struct builder *b, const struct series *series, size_t series_count)
{
	for (size_t i = 0; i < series_count; i++) {
		if (__builtin_add_overflow(b->room, room_for(&series[i]), &b->room) ||
		    b->room > PLAN_POINTS_MAX)
			return failure_usage("more than %d points, the product of all lists; give "
					     "fewer values",
					     PLAN_POINTS_MAX);
	}
	b->plan.points = calloc(b->room + 1, sizeof(*b->plan.points)); /* never nothing */
	return b->plan.points != NULL ? 0 : out_of_memory();
}

static int make_points(struct builder *b, const struct series *series, size_t series_count)
{
	int ret = make_room(b, series, series_count);

	for (size_t i = 0; i < series_count; i++) {
		size_t count = ret == 0 ? combinations(&series[i]) : 0;

		for (size_t index = 0; index < count && ret == 0; index++) {
			struct params params;

			combine(&series[i], index, &params);
			ret = add_sizes(b, &series[i], &params);
		}
	}
	tdestroy(b->known, keep);
	return ret;
}

static void find_varying(struct plan *plan)
{
	for (size_t i = 1; i < plan->points_count; i++) {
		for (int axis = 0; axis < AXES; axis++) {
			if (axis_compare(&plan->points[i], &plan->points[0], (enum axis_id)axis))
				plan->varying |= 1U << axis;
		}
	}
}

/* Fisher-Yates; the bias of a modulo is far below what an order could show. */
static void shuffle(struct plan_trial *trials, size_t count, uint64_t *state)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)(random_next(state) % i);
		struct plan_trial trial = trials[i - 1];

		trials[i - 1] = trials[k];
		trials[k] = trial;
	}
}

static int make_trials(struct plan *plan, uint32_t repeats, uint64_t seed)
{
	size_t n = plan->points_count;

	plan->trials_count = n * repeats;
	if (plan->trials_count > PLAN_TRIALS_MAX)
		return failure_usage(
			"%zu points with %u repeats each: expected at most %d repeats in all", n,
			repeats, PLAN_TRIALS_MAX);
	plan->trials = calloc(plan->trials_count + 1, sizeof(*plan->trials)); /* never nothing */
	if (plan->trials == NULL)
		return out_of_memory();
	for (uint32_t round = 0; round < repeats; round++) {
		for (size_t i = 0; i < n; i++)
			plan->trials[round * n + i] = (struct plan_trial){i, round};
		shuffle(&plan->trials[round * n], n, &seed);
	}
	return 0;
}

int plan_seed(uint64_t *seed)
{
	if (getrandom(seed, sizeof(*seed), 0) != sizeof(*seed))
		return failure_set(EXIT_INTERNAL, "plan", "the kernel gave no random bytes");
	*seed &= SEED_MASK;
	return 0;
}

int plan_make(struct plan *plan, const struct series *series, size_t series_count, uint32_t repeats,
	      uint64_t seed)
{
	struct builder b = {0};
	int ret = make_points(&b, series, series_count);

	if (ret == 0)
		ret = make_trials(&b.plan, repeats, seed);
	if (ret) {
		plan_free(&b.plan);
		return ret;
	}
	find_varying(&b.plan);
	*plan = b.plan;
	return 0;
}

int plan_add_point(struct plan *plan, const struct params *params)
{
	struct params *points = realloc(plan->points, (plan->points_count + 1) * sizeof(*points));

	if (points == NULL)
		return out_of_memory();
	plan->points = points;
	plan->points[plan->points_count++] = *params;
	return 0;
}

int plan_add_trials(struct plan *plan, size_t point, uint32_t repeats)
{
	struct plan_trial *trials =
		realloc(plan->trials, (plan->trials_count + repeats) * sizeof(*trials));
	uint32_t first = 0;

	if (trials == NULL)
		return out_of_memory();
	plan->trials = trials;
	for (size_t i = 0; i < plan->trials_count; i++)
		first += trials[i].point == point;
	for (uint32_t i = 0; i < repeats; i++)
		trials[plan->trials_count++] = (struct plan_trial){point, first + i};
	return 0;
}

void plan_free(struct plan *plan)
{
	free(plan->points);
	free(plan->trials);
	memset(plan, 0, sizeof(*plan));
}

uint64_t plan_most(const struct plan *plan, int axis)
{
	uint64_t most = 0;

	for (size_t i = 0; i < plan->points_count; i++) {
		uint64_t value = axis_get(&plan->points[i], (enum axis_id)axis);

		most = value > most ? value : most;
	}
	return most;
}

const char *plan_describe(const struct plan *plan, size_t point,
			  const struct target_selector *selector, char text[PLAN_DESCRIPTION_MAX])
{
	const struct params *params = &plan->points[point];
	char value[UNITS_TEXT_BYTES];
	size_t used = 0;

	text[0] = '\0';
	for (int axis = 0; axis < AXES && used < PLAN_DESCRIPTION_MAX; axis++) {
		/* a size is always of interest */
		if (axis != AXIS_SIZE && (plan->varying & 1U << axis) == 0)
			continue;
		used += (size_t)snprintf(text + used, PLAN_DESCRIPTION_MAX - used, "%s%s %s",
					 used > 0 ? ", " : "", axes[axis].name,
					 axis == AXIS_TARGET
						 ? selector->words[params->target]
						 : axis_print(params, (enum axis_id)axis, value));
	}
	return text;
}

json_t *plan_point_json(const struct plan *plan, size_t point,
			const struct target_selector *selector)
{
	const struct params *params = &plan->points[point];
	json_t *object = json_object();

	for (int axis = 0; axis < AXES; axis++)
		json_object_set_new(object, axes[axis].name,
				    axis == AXIS_TARGET
					    ? json_string(selector->words[params->target])
					    : axis_json(params, (enum axis_id)axis));
	return object;
}
