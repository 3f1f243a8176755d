/* SPDX-License-Identifier: BSD-3-Clause */
/* test_knee.c -- the search for a rate, against paths whose knee is known. */
#include "tools/rpma-bench/result/knee.h"

#include <math.h>

#include "tests/lib/test.h"

/* Keeps a rate up to its knee, but is wrong about some trials. */
struct path {
	uint64_t knee;
	uint64_t wrong_once; /* the rate whose first trial has the other verdict */
	unsigned random;     /* a seed; 0: not at random */
	unsigned measured;
};

static enum knee_verdict measure(struct path *path, const struct knee *knee,
				 const struct knee_trial *trial)
{
	bool kept = trial->rate_per_s <= path->knee;

	path->measured++;
	if (path->random != 0)
		kept = ((path->measured + path->random) * 2654435761U >> 7 & 1) != 0;
	if (trial->rate_per_s == path->wrong_once && !trial->again)
		kept = !kept;
	return kept ? KNEE_KEPT : KNEE_MISSED;
}

static void search(struct knee *knee, struct path *path)
{
	for (;;) {
		const struct knee_next next = knee_next(knee);
		struct knee_trial *trial;

		if (next.step == KNEE_END)
			break;
		if (next.step == KNEE_TRY) {
			trial = &knee->trials[knee->trials_count];
			*trial = (struct knee_trial){.rate_per_s = next.rate_per_s};
			knee->trials_count++;
		} else {
			trial = &knee->trials[next.trial];
			assert_false(trial->again);
			trial->again = true;
		}
		trial->verdict = measure(path, knee, trial);
		assert_true(path->measured < 2 * KNEE_TRIALS_MAX);
	}
	knee->over = true;
}

static void assert_found(const struct knee *knee, uint64_t truth)
{
	const struct knee_trial *kept = knee_kept(knee), *missed = knee_missed(knee);

	assert_string_equal(knee_outcome(knee), "found");
	assert_true(kept->again && missed->again);
	assert_true(kept->rate_per_s <= truth && truth < missed->rate_per_s);
	assert_true((double)missed->rate_per_s <= (double)kept->rate_per_s * (1 + KNEE_GAP) ||
		    missed->rate_per_s == kept->rate_per_s + 1);
}

TEST(finds_the_knee_of_a_bracket)
{
	for (uint64_t truth = 1; truth < 90000000; truth += truth / 3 + 1) {
		struct knee knee = {.low = 1, .high = 100000000};
		struct path path = {.knee = truth};

		search(&knee, &path);
		assert_found(&knee, truth);
		/* 27 octaves, each halving of the ratio a trial, and what is measured again */
		assert_true(path.measured <= 2 + 11 + 2);
	}
}

TEST(finds_the_knee_without_a_bracket)
{
	static const uint64_t truths[] = {1, 7, 499, 500, 501, 999, 1000, 2500, 250000};

	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		struct knee knee = {.first = 500};
		struct path path = {.knee = truths[i]};

		search(&knee, &path);
		assert_found(&knee, truths[i]);
	}
}

TEST(a_bracket_that_is_kept_ends_at_its_top)
{
	struct knee knee = {.low = 10, .high = 1000};
	struct path path = {.knee = 5000};

	search(&knee, &path);
	EQUAL((knee_outcome(&knee), "kept"), (knee_kept(&knee)->rate_per_s, 1000));
	assert_true(knee_kept(&knee)->again);
	assert_null(knee_missed(&knee));
}

TEST(even_the_lowest_may_be_missed)
{
	struct knee bracket = {.low = 10, .high = 1000}, none = {.first = 1 << 20};
	struct path path = {.knee = 5}, nothing = {.knee = 0};

	search(&bracket, &path);
	EQUAL((knee_outcome(&bracket), "missed"), (knee_missed(&bracket)->rate_per_s, 10));
	assert_true(knee_missed(&bracket)->again);
	search(&none, &nothing);
	EQUAL((knee_outcome(&none), "missed"), (knee_missed(&none)->rate_per_s, 1024));
}

TEST(the_highest_rate_is_the_end)
{
	struct knee knee = {.first = 60000000};
	struct path path = {.knee = UINT64_MAX};

	search(&knee, &path);
	EQUAL((knee_outcome(&knee), "kept"), (knee_kept(&knee)->rate_per_s, 100000000));
}

/* Whichever rate on the way has a wrong first trial, its second one is not. */
TEST(one_wrong_trial_at_the_ends_is_corrected)
{
	struct knee plain = {.low = 100, .high = 10000};
	struct path path = {.knee = 2345};
	unsigned corrected = 0;

	search(&plain, &path);
	for (size_t i = 0; i < plain.trials_count; i++) {
		struct knee knee = {.low = 100, .high = 10000};
		struct path noisy = {.knee = 2345, .wrong_once = plain.trials[i].rate_per_s};

		search(&knee, &noisy);
		if (strcmp(knee_outcome(&knee), "found") != 0)
			continue;
		assert_found(&knee, 2345);
		corrected++;
	}
	assert_int_equal(corrected, plain.trials_count);
}

TEST(a_contradiction_is_told)
{
	struct knee knee = {
		.low = 100,
		.high = 400,
		.over = true,
		.trials = {{.rate_per_s = 100, .verdict = KNEE_KEPT},
			   {.rate_per_s = 200, .verdict = KNEE_MISSED, .again = true},
			   {.rate_per_s = 300, .verdict = KNEE_KEPT}},
		.trials_count = 3,
	};
	struct knee_next next = knee_next(&knee);

	EQUAL((next.step, KNEE_AGAIN), (next.trial, 2));
	knee.trials[2].again = true;
	EQUAL((knee_next(&knee).step, KNEE_END), (knee_outcome(&knee), "unclear"));
}

static const struct knee begun = {
	.low = 100,
	.high = 400,
	.trials = {{.rate_per_s = 100, .verdict = KNEE_KEPT}},
	.trials_count = 1,
};

TEST(an_unknown_value_ends_it)
{
	struct knee knee = begun;

	knee.trials[0].verdict = KNEE_UNKNOWN;
	EQUAL((knee_next(&knee).step, KNEE_END), (knee_outcome(&knee), "unknown"));
}

TEST(an_interrupted_search_is_unfinished)
{
	assert_string_equal(knee_outcome(&begun), "unfinished");
}

/* Each trial falls at random: the search still ends, with a verdict of its own. */
TEST(noise_alone_comes_to_an_end)
{
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct knee knee = {.low = 1, .high = 100000000};
		struct path path = {.random = seed};

		search(&knee, &path);
	}
}

static json_t *repeat(json_int_t elapsed_ns, json_int_t unbegun)
{
	return json_pack("{s:b, s:I, s:I}", "complete", 1, "elapsed_ns", elapsed_ns, "unbegun_ops",
			 unbegun);
}

static bool achieved(json_t *repeats)
{
	const struct params params = {.rate_per_s = 1000};
	bool good = knee_achieved(repeats, 1000000000, &params);

	json_decref(repeats);
	return good;
}

/* 1 s at 1000/s: 0.5 % is 5 ms, a period 1 ms. */
TEST(a_growing_backlog_is_not_achieved)
{
	EQUAL((achieved(json_pack("[o]", repeat(1000000000, 0))), true),
	      (achieved(json_pack("[o]", repeat(1005900000, 0))), true),
	      (achieved(json_pack("[o]", repeat(1006100000, 0))), false),
	      (achieved(json_pack("[o, o]", repeat(1000000000, 0), repeat(1010000000, 0))), true),
	      (achieved(json_pack("[o, o]", repeat(1000000000, 0), repeat(1020000000, 0))), false),
	      (achieved(json_pack("[o]", repeat(1000000000, 1))), false),
	      (achieved(json_array()), false));
	assert_false(achieved(json_pack("[{s:b, s:i}]", "complete", 0, "elapsed_ns", 1)));
}
