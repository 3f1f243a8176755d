/* SPDX-License-Identifier: BSD-3-Clause */
/* test_check_sum.c -- the sum by which a changed source is found: each bit of it counts. */
#include "soft_device/check/sum.h"
#include "tests/lib/test.h"

#define LONGEST (4 * CHECK_SUM_BYTES)

static unsigned char memory[LONGEST + 64];

static void fill(unsigned seed)
{
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (unsigned char)(i * 31 + (i >> 8) * 7 + seed);
}

static void every_bit_counts(void **state)
{
	for (size_t bytes = 1; bytes <= 80; bytes++) {
		const uint64_t sum = check_sum(memory, bytes);

		for (size_t bit = 0; bit < bytes * 8; bit++) {
			memory[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_int_not_equal(check_sum(memory, bytes), sum);
			memory[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		assert_int_equal(check_sum(memory, bytes), sum);
	}
}

TEST(test_every_bit_counts)
{
	fill(1);
	every_bit_counts(state);
}

TEST(test_every_bit_of_zeros_counts)
{
	memset(memory, 0, sizeof(memory));
	every_bit_counts(state);
}

TEST(test_equal_bytes_have_one_sum_wherever_they_are)
{
	fill(2);
	for (size_t at = 1; at < 17; at++) {
		const uint64_t sum = check_sum(memory, 48);
		unsigned char moved[48 + 17];

		memcpy(moved + at, memory, 48);
		assert_int_equal(check_sum(moved + at, 48), sum);
	}
}

TEST(test_order_counts)
{
	uint64_t words[4] = {1, 2, 3, 4};
	const uint64_t sum = check_sum(words, sizeof(words));

	for (unsigned i = 0; i < 4; i++) {
		for (unsigned j = i + 1; j < 4; j++) {
			uint64_t other[4];

			memcpy(other, words, sizeof(other));
			other[i] = words[j];
			other[j] = words[i];
			assert_int_not_equal(check_sum(other, sizeof(other)), sum);
		}
	}
	assert_int_not_equal(check_sum_of(1, 2), check_sum_of(2, 1));
}

/* The manual promises no more for a long piece. */
TEST(test_of_a_long_piece_the_ends_count)
{
	const size_t half = CHECK_SUM_BYTES / 2;
	const size_t counts[] = {0, half - 1, LONGEST - half, LONGEST - 1};
	const size_t passes[] = {half, LONGEST / 2, LONGEST - half - 1};
	uint64_t sum;

	fill(3);
	sum = check_sum(memory, LONGEST);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		memory[counts[i]] ^= 1;
		assert_int_not_equal(check_sum(memory, LONGEST), sum);
		memory[counts[i]] ^= 1;
	}
	for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
		memory[passes[i]] ^= 1;
		assert_int_equal(check_sum(memory, LONGEST), sum);
		memory[passes[i]] ^= 1;
	}
}
