/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c -- every repeat of every point, once, in a seeded order. */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/options/axes.h"
#include "tools/rpma-bench/options/plan.h"
#include "tools/rpma-bench/options/target_selector.h"

static struct plan plan;

/* Pairs of an axis and its text; NULL ends. */
struct setting {
	enum axis_id axis;
	const char *text;
};

static struct series make_series(const struct setting *settings)
{
	struct series series = {0};

	for (; settings->text != NULL; settings++)
		assert_int_equal(series_set(&series, settings->axis, settings->text), 0);
	return series;
}

static void make_plan(struct plan *p, const struct setting *settings, uint32_t repeats,
		      uint64_t seed)
{
	struct series series = make_series(settings);

	assert_int_equal(plan_make(p, &series, 1, repeats, seed), 0);
	series_clear(&series);
}

static const struct setting six[] = {{AXIS_SIZE, "64,4K,64K"}, {AXIS_DEPTH, "1,8"}, {0, NULL}};

TEST(points_are_the_product)
{
	static const uint64_t sizes[] = {64, 4096, 65536};

	make_plan(&plan, six, 5, 1);
	assert_int_equal(plan.points_count, 6);
	for (size_t i = 0; i < 6; i++) {
		EQUAL((plan.points[i].size_bytes, sizes[i % 3]),
		      (plan.points[i].depth, i < 3 ? 1 : 8));
	}
	EQUAL((plan.varying, 1U << AXIS_SIZE | 1U << AXIS_DEPTH),
	      (plan_most(&plan, AXIS_SIZE), 65536));
	plan_free(&plan);
}

/* Defaults depend on the test and the operation of each point. */
TEST(defaults_follow_the_test)
{
	static const struct setting settings[] = {
		{AXIS_TEST, "lat,bw,mix,connect,register"}, {AXIS_SIZE, "64"}, {0, NULL}};
	static const uint32_t depths[] = {1, 32, 32, 1, 1};

	make_plan(&plan, settings, 1, 1);
	assert_int_equal(plan.points_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct params *p = &plan.points[i];

		EQUAL((p->depth, depths[i]),
		      (p->read_millionths, p->test == BENCH_MIX ? 700000 : 0), (p->threads, 1),
		      (p->connections, 1), (p->batch, 1), (p->signal_every, 1));
	}
	plan_free(&plan);
}

/* One completion a batch, unless each operation has to have its own. */
TEST(signals_follow_the_batch)
{
	static const struct {
		struct setting settings[5];
		uint32_t signal_every;
	} cases[] = {
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}}, 8},
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}, {AXIS_SIGNAL_EVERY, "2"}}, 2},
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}, {AXIS_PERSIST, "apm"}}, 8},
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}, {AXIS_PERSIST, "gpspm"}}, 1},
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}, {AXIS_PERSIST, "auto"}}, 1},
		{{{AXIS_TEST, "bw"}, {AXIS_BATCH, "8"}, {AXIS_OP, "send"}}, 1},
		{{{AXIS_TEST, "mix"}, {AXIS_BATCH, "8"}}, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_plan(&plan, cases[i].settings, 1, 1);
		EQUAL((plan.points[0].batch, 8),
		      (plan.points[0].signal_every, cases[i].signal_every));
		plan_free(&plan);
	}
}

TEST(default_sizes_follow_the_operation)
{
	static const struct setting settings[] = {{AXIS_OP, "write,atomic-write"}, {0, NULL}};

	make_plan(&plan, settings, 1, 1);
	EQUAL((plan.points_count, 9), (plan.points[0].size_bytes, 64),
	      (plan.points[7].size_bytes, 1048576), (plan.points[8].op, BENCH_ATOMIC_WRITE),
	      (plan.points[8].size_bytes, 8));
	plan_free(&plan);
}

TEST(a_rate_is_of_the_rate_test_alone)
{
	static const struct setting settings[] = {
		{AXIS_TEST, "lat,rate"}, {AXIS_RATE, "10k,20k"}, {AXIS_SIZE, "64"}, {0, NULL}};

	make_plan(&plan, settings, 1, 1);
	EQUAL((plan.points_count, 3), (plan.points[0].rate_per_s, 0),
	      (plan.points[1].rate_per_s, 10000), (plan.points[2].rate_per_s, 20000));
	plan_free(&plan);
}

TEST(values_that_do_not_go_together_are_refused)
{
	static const struct setting cases[][4] = {
		{{AXIS_OP, "read"}, {AXIS_PERSIST, "apm"}, {0, NULL}},
		{{AXIS_RATE, "10k"}, {0, NULL}},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct series series = make_series(cases[i]);

		EQUAL((plan_make(&plan, &series, 1, 1, 1), -EINVAL),
		      (failure_get()->code, EXIT_WRONG_USAGE));
		series_clear(&series);
	}
}

TEST(a_point_of_two_series_is_there_once)
{
	static const struct setting a[] = {{AXIS_SIZE, "64,4K"}, {0, NULL}};
	static const struct setting b[] = {
		{AXIS_SIZE, "4K,8K"}, {AXIS_PERSIST, "none,apm"}, {0, NULL}};
	struct series series[] = {make_series(a), make_series(b)};

	EQUAL((plan_make(&plan, series, 2, 3, 1), 0), (plan.points_count, 5),
	      (plan.trials_count, 15));
	/* where the first series has it */
	EQUAL((plan.points[1].size_bytes, 4096), (plan.points[2].size_bytes, 8192),
	      (plan.points[3].persist, BENCH_APM));
	plan_free(&plan);
	series_clear(&series[0]);
	series_clear(&series[1]);
}

TEST(a_run_has_a_limit)
{
	static const struct setting points[] = {
		{AXIS_SIZE, "1:4096:+1"}, {AXIS_DEPTH, "1:25:+1"}, {0, NULL}};
	static const struct setting trials[] = {{AXIS_SIZE, "1:1001:+1"}, {0, NULL}};
	static const struct setting huge[] = {{AXIS_SIZE, "1:4096:+1"},
					      {AXIS_DEPTH, "1:4096:+1"},
					      {AXIS_SIGNAL_EVERY, "1:4096:+1"},
					      {AXIS_RATE, "1:4096:+1"},
					      {AXIS_READ_FRACTION, "0:0.004095:+0.000001"},
					      {AXIS_SERVER_LOAD, "0:0.004095:+0.000001"},
					      {0, NULL}};
	struct series series[] = {make_series(points), make_series(trials), make_series(huge)};

	EQUAL((plan_make(&plan, &series[0], 1, 1, 1), -EINVAL),
	      (plan_make(&plan, &series[1], 1, 1000, 1), -EINVAL),
	      (plan_make(&plan, &series[2], 1, 1, 1), -EINVAL));
	for (size_t i = 0; i < 3; i++)
		series_clear(&series[i]);
}

/* So that a point whose figures agree can be left out of later rounds. */
TEST(a_round_has_every_point_once)
{
	int seen[6] = {0};

	make_plan(&plan, six, 5, 42);
	assert_int_equal(plan.trials_count, 30);
	for (size_t i = 0; i < 30; i++) {
		EQUAL((plan.trials[i].repeat, i / 6), (seen[plan.trials[i].point], i / 6));
		seen[plan.trials[i].point]++;
	}
	plan_free(&plan);
}

TEST(the_seed_decides_the_order)
{
	struct plan a, b, c;

	make_plan(&a, six, 5, 42);
	make_plan(&b, six, 5, 42);
	make_plan(&c, six, 5, 43);
	assert_memory_equal(a.trials, b.trials, a.trials_count * sizeof(*a.trials));
	/* 6!^5 orders: the same one twice would be a wonder */
	assert_memory_not_equal(a.trials, c.trials, a.trials_count * sizeof(*a.trials));
	plan_free(&a);
	plan_free(&b);
	plan_free(&c);
}

/*
 * On every machine: Fisher-Yates by the numbers of splitmix64, worked out in
 * Python from the published generator, for 6 points, 2 rounds, seed 42.
 */
TEST(the_order_is_the_same_everywhere)
{
	static const size_t expected[] = {4, 3, 0, 2, 5, 1, 2, 3, 1, 4, 5, 0};

	make_plan(&plan, six, 2, 42);
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(plan.trials[i].point, expected[i]);
	plan_free(&plan);
}

/* Each point at each position about equally often: 6000 runs, 1000 expected. */
TEST(the_shuffle_is_even)
{
	int seen[6][6] = {{0}};

	for (uint64_t seed = 0; seed < 6000; seed++) {
		make_plan(&plan, six, 1, seed);
		for (size_t position = 0; position < 6; position++)
			seen[plan.trials[position].point][position]++;
		plan_free(&plan);
	}
	for (int point = 0; point < 6; point++) {
		for (int position = 0; position < 6; position++)
			/* five sigma of a binomial with n = 6000, p = 1/6 */
			assert_in_range(seen[point][position], 855, 1145);
	}
}

TEST(points_are_described_by_what_differs)
{
	struct target_selector selector;
	char text[PLAN_DESCRIPTION_MAX];

	assert_int_equal(target_selector_init(&selector), 0);
	make_plan(&plan, six, 1, 1);
	assert_string_equal(plan_describe(&plan, 4, &selector, text), "size 4 KiB, depth 8");
	plan_free(&plan);
	target_selector_clear(&selector);
}
