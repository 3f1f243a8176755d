/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image.h -- what pings write, and whether it came back.
 *
 * Two images take turns, each the complement of the other, so every byte of a
 * ping differs from what the one before left there: what did not arrive shows.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct image_difference {
	uint64_t bytes; /* that differ */
	uint64_t first; /* the offset of the first */
	uint8_t expected;
	uint8_t found;
};

/* Fills two images of size bytes, of the salt, at even and at odd. */
void image_fill(uint8_t *even, uint8_t *odd, size_t size, uint64_t salt);

/* found and expected differ somewhere. */
struct image_difference image_compare(const uint8_t *found, const uint8_t *expected, size_t size);

#endif /* IMAGE_H */
