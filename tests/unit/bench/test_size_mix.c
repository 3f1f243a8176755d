/* SPDX-License-Identifier: BSD-3-Clause */
/* test_size_mix.c -- mixes of sizes: what is one, and how often each size comes. */
#include "tools/rpma-bench/protocol/params.h"

#include "tests/lib/test.h"

#define MAX (1ULL << 30)

TEST(a_mix_has_sizes_and_shares)
{
	char text[SIZE_MIX_TEXT_MAX];
	struct size_mix mix;

	EQUAL((size_mix_parse("4K/10:64K/50:32K/40", MAX, &mix), 0), (mix.count, 3),
	      (mix.size_bytes[1], 65536), (mix.percent[2], 40), (size_mix_largest(&mix), 65536));
	/* 409.6 + 32768 + 13107.2 */
	EQUAL((size_mix_mean(&mix), 46285),
	      (size_mix_print(&mix, text), "4096/10:65536/50:32768/40"),
	      (size_mix_parse("1G/100", MAX, &mix), 0));
}

TEST(what_is_no_mix_is_refused)
{
	static const char *const texts[] = {
		"",
		"/",
		"4K",
		"4K/",
		"/100",
		"4K/99",
		"4K/101",
		"4K/0:8K/100",
		"4K/50:4K/50",
		"4K/50:4096/50",
		"4K/50:8K",
		"4K/50:8K/51",
		"4K/50:8K/50:",
		"0/100",
		"2G/100",
		"4K/50/8K",
		"4K/50:x/50",
		"4K/-50:8K/150",
		"4K/50%:8K/50%",
		"4K/4294967396",
		"1/6:2/6:3/6:4/6:5/6:6/6:7/6:8/6:9/6:10/6:11/6:12/6:13/6:14/6:15/6:16/5:17/5",
	};
	struct size_mix mix;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (size_mix_parse(texts[i], MAX, &mix) != -EINVAL)
			fail_msg("%s is taken", texts[i]);
	}
}

TEST(mixes_are_told_apart)
{
	struct size_mix a, b;

	size_mix_parse("4K/10:64K/90", MAX, &a);
	size_mix_parse("4096/10:64K/90", MAX, &b);
	assert_int_equal(size_mix_compare(&a, &b), 0);
	size_mix_parse("4K/90:64K/10", MAX, &b);
	assert_int_not_equal(size_mix_compare(&a, &b), 0);
	assert_true(size_mix_compare(NULL, &b) < 0);
	assert_int_equal(size_mix_compare(NULL, NULL), 0);
}

TEST(draws_have_exact_shares_in_an_order_of_the_seed)
{
	static uint32_t draws[SIZE_MIX_DRAWS], others[SIZE_MIX_DRAWS];
	struct size_mix mix;

	assert_int_equal(size_mix_parse("4K/10:64K/50:32K/40", MAX, &mix), 0);
	for (uint64_t seed = 0; seed < 3; seed++) {
		uint32_t counts[3] = {0}, runs = 1;

		size_mix_draw(&mix, seed, draws);
		size_mix_draw(&mix, seed, others);
		assert_memory_equal(draws, others, sizeof(draws));
		for (uint32_t i = 0; i < SIZE_MIX_DRAWS; i++) {
			counts[0] += draws[i] == 4096;
			counts[1] += draws[i] == 65536;
			counts[2] += draws[i] == 32768;
			runs += i > 0 && draws[i] != draws[i - 1];
		}
		EQUAL((counts[0], 1000), (counts[1], 5000), (counts[2], 4000));
		/* two neighbours differ with probability 1 - 0.01 - 0.25 - 0.16 = 0.58 */
		assert_in_range(runs, 5800 - 300, 5800 + 300);
	}
	size_mix_draw(&mix, 7, others);
	assert_memory_not_equal(draws, others, sizeof(draws));
}
