/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.h -- what pings write, and whether it came back.
 *
 * Two patterns take turns, each the complement of the other, so every byte of a
 * ping differs from what the one before left there: what did not arrive shows.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>
#include <stdint.h>

struct pattern_difference {
	uint64_t bytes; /* that differ */
	uint64_t first; /* the offset of the first */
	uint8_t expected;
	uint8_t found;
};

/* Fills two patterns of size bytes, of the salt, at even and at odd. */
void pattern_fill(uint8_t *even, uint8_t *odd, size_t size, uint64_t salt);

/* found and expected differ somewhere. */
struct pattern_difference pattern_compare(const uint8_t *found, const uint8_t *expected,
					  size_t size);

#endif /* PATTERN_H */
