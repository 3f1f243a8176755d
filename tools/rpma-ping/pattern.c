/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.c -- random bytes, their complement, and where two patterns differ.
 */
#include "pattern.h"

#include "common/base/random.h"

void pattern_fill(uint8_t *patterns, size_t stride, unsigned count, size_t size, uint64_t salt)
{
	/* any two of them differ, so any two patterns do in each byte */
	static const uint8_t flips[PATTERNS_MAX] = {0x00, 0xff, 0x55};
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++) {
		if (i % sizeof(word) == 0)
			word = random_next(&salt);
		for (unsigned p = 0; p < count && p < PATTERNS_MAX; p++)
			patterns[p * stride + i] =
				(uint8_t)(word >> (8 * (i % sizeof(word)))) ^ flips[p];
	}
}

unsigned pattern_next(struct pattern_turn *turn, size_t bytes)
{
	struct pattern_turn *t = turn;

	if (t->count == 2) {
		t->last = 1 - t->last;
	} else if (bytes <= t->last_bytes) { /* a cycle begins */
		t->avoided = t->last;
		t->last = (t->last + 1) % 3;
	} else {
		t->last = 3 - t->avoided - t->last;
	}
	t->last_bytes = bytes;
	return t->last;
}

struct pattern_difference pattern_compare(const uint8_t *found, const uint8_t *expected,
					  size_t size)
{
	struct pattern_difference d = {0};

	for (size_t i = 0; i < size; i++) {
		if (found[i] == expected[i])
			continue;
		if (d.bytes++ == 0) {
			d.first = i;
			d.expected = expected[i];
			d.found = found[i];
		}
	}
	return d;
}
