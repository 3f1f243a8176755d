/* SPDX-License-Identifier: BSD-3-Clause */
/* test_progress.c -- how long a run still takes: by what was asked, then by what repeats took. */
#include "tests/lib/test.h"
#include "tools/rpma-bench/client/progress.h"

#define SECOND 1000000000ULL

TEST(a_repeat_is_its_times_and_what_is_between)
{
	struct options o = {.duration_ns = 10 * SECOND, .warmup_ns = SECOND};

	assert_int_equal(progress_repeat_ns(&o), 11 * SECOND + PROGRESS_OVERHEAD_NS);
	o.ops = 100;
	assert_int_equal(progress_repeat_ns(&o), 0);
}

TEST(before_the_first_it_is_what_was_asked)
{
	const struct progress p = {.left = 120, .begin_ns = 5, .repeat_ns = 11 * SECOND};

	assert_int_equal(progress_left_s(&p, 5), 120 * 11);
}

TEST(then_it_is_what_repeats_took)
{
	const struct progress p = {
		.left = 30, .measured = 10, .begin_ns = SECOND, .repeat_ns = 11 * SECOND};

	assert_int_equal(progress_left_s(&p, 21 * SECOND), 60);
}

/* A run that ends by operations prints nothing before one repeat is done. */
TEST(what_is_unknown_is_not_guessed)
{
	struct progress p = {.left = 30, .begin_ns = SECOND};

	assert_true(progress_left_s(&p, SECOND) == UINT64_MAX);
	p.measured = 1;
	assert_int_equal(progress_left_s(&p, 3 * SECOND), 60);
}

TEST(the_longest_run_fits)
{
	const struct progress p = {.left = PLAN_TRIALS_MAX, .repeat_ns = 2 * OPTIONS_DURATION_MAX};

	assert_int_equal(progress_left_s(&p, 0), PLAN_TRIALS_MAX * 2ULL * 24 * 3600);
}
