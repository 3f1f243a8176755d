/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_plan.c -- every repeat of every point, once, in a seeded order.
 */
#include <stdlib.h>
#include <string.h>

#include "rpma-bench/plan.h"
#include "test.h"

static uint64_t size_values[] = {64, 4096, 65536};
static uint64_t depth_values[] = {1, 8};
static const struct units_list sizes = {3, size_values}, depths = {2, depth_values};

static void points_are_the_product(void **state)
{
	struct plan plan;

	assert_int_equal(plan_make(&plan, &sizes, &depths, 5, 1), 0);
	assert_int_equal(plan.points_count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(plan.points[i].size_bytes, size_values[i % 3]);
		assert_int_equal(plan.points[i].depth, depth_values[i / 3]);
	}
	plan_free(&plan);
}

static void each_repeat_comes_once(void **state)
{
	int seen[6][5] = {{0}};
	struct plan plan;

	assert_int_equal(plan_make(&plan, &sizes, &depths, 5, 42), 0);
	assert_int_equal(plan.items_count, 30);
	for (size_t i = 0; i < 30; i++)
		seen[plan.items[i].point][plan.items[i].repeat]++;
	for (size_t point = 0; point < 6; point++) {
		for (size_t repeat = 0; repeat < 5; repeat++)
			assert_int_equal(seen[point][repeat], 1);
	}
	plan_free(&plan);
}

static void the_seed_decides_the_order(void **state)
{
	struct plan a, b, c;

	assert_int_equal(plan_make(&a, &sizes, &depths, 5, 42), 0);
	assert_int_equal(plan_make(&b, &sizes, &depths, 5, 42), 0);
	assert_int_equal(plan_make(&c, &sizes, &depths, 5, 43), 0);
	for (size_t i = 0; i < a.items_count; i++) {
		assert_int_equal(a.items[i].point, b.items[i].point);
		assert_int_equal(a.items[i].repeat, b.items[i].repeat);
	}
	/* 30! orders: the same one twice would be a wonder */
	assert_memory_not_equal(a.items, c.items, a.items_count * sizeof(*a.items));
	plan_free(&a);
	plan_free(&b);
	plan_free(&c);
}

/* Each point at each place about equally often: 6000 runs, 1000 expected. */
static void the_shuffle_is_even(void **state)
{
	static uint64_t values[] = {1, 2, 3, 4, 5, 6};
	static const struct units_list six = {6, values}, single = {1, values};
	int seen[6][6] = {{0}};

	for (uint64_t seed = 0; seed < 6000; seed++) {
		struct plan plan;

		assert_int_equal(plan_make(&plan, &six, &single, 1, seed), 0);
		for (size_t place = 0; place < 6; place++)
			seen[plan.items[place].point][place]++;
		plan_free(&plan);
	}
	for (int point = 0; point < 6; point++) {
		for (int place = 0; place < 6; place++)
			/* five sigma of a binomial with n = 6000, p = 1/6 */
			assert_in_range(seen[point][place], 855, 1145);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_the_product),
		cmocka_unit_test(each_repeat_comes_once),
		cmocka_unit_test(the_seed_decides_the_order),
		cmocka_unit_test(the_shuffle_is_even),
	};

	return cmocka_run_group_tests_name("bench.plan", tests, NULL, NULL);
}
