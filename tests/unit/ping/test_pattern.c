/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pattern.c -- the patterns of pings, their turns, and where bytes differ. */
#include "tests/lib/test.h"
#include "tools/rpma-ping/pattern.h"

TEST(every_byte_differs_from_the_other_patterns)
{
	static const size_t sizes[] = {1, 7, 8, 9, 64, 4097};
	static uint8_t patterns[3][5000];

	for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		pattern_fill(patterns[0], sizeof(patterns[0]), 3, sizes[n], 42);
		for (size_t i = 0; i < sizes[n]; i++) {
			assert_int_not_equal(patterns[0][i], patterns[1][i]);
			assert_int_not_equal(patterns[0][i], patterns[2][i]);
			assert_int_not_equal(patterns[1][i], patterns[2][i]);
		}
	}
}

TEST(no_byte_is_written_beyond_the_size)
{
	uint8_t patterns[2][8] = {{0}};

	pattern_fill(patterns[0], 8, 2, 7, 1);
	EQUAL((patterns[0][7], 0), (patterns[1][7], 0));
}

/* Bytes that another run left in the same slot must not pass for what this one wrote. */
TEST(another_salt_is_another_pattern)
{
	uint8_t one[2][64], two[2][64];

	pattern_fill(one[0], 64, 2, 64, 1);
	pattern_fill(two[0], 64, 2, 64, 2);
	assert_memory_not_equal(one[0], two[0], 64);
}

/* Each byte of the target has the pattern that wrote it last; 0xff: none yet. */
static void play(const size_t *sizes, size_t count)
{
	struct pattern_turn turn = {.count = count > 1 ? 3 : 2, .last_bytes = SIZE_MAX};
	uint8_t written[64];

	memset(written, 0xff, sizeof(written));
	for (size_t n = 0; n < 20 * count; n++) {
		unsigned pattern = pattern_next(&turn, sizes[n % count]);

		assert_true(pattern < turn.count);
		for (size_t i = 0; i < sizes[n % count]; i++) {
			assert_int_not_equal(written[i], pattern);
			written[i] = (uint8_t)pattern;
		}
	}
}

/* Whichever of the 6 sizes are in the cycle. */
TEST(a_write_differs_from_all_that_it_overwrites)
{
	for (unsigned set = 1; set < 64; set++) {
		size_t sizes[6], count = 0;

		for (size_t i = 0; i < 6; i++) {
			if (set & 1U << i)
				sizes[count++] = 1 + 9 * i;
		}
		play(sizes, count);
	}
}

TEST(differences_are_counted_and_the_first_is_shown)
{
	uint8_t expected[100], found[100];
	struct pattern_difference d;

	for (size_t i = 0; i < sizeof(expected); i++)
		expected[i] = (uint8_t)i;
	memcpy(found, expected, sizeof(found));
	d = pattern_compare(found, expected, sizeof(found));
	assert_int_equal(d.bytes, 0);
	found[17] = 0xee;
	found[99] = 0xef;
	d = pattern_compare(found, expected, sizeof(found));
	EQUAL((d.bytes, 2), (d.first, 17), (d.expected, 17), (d.found, 0xee));
}
