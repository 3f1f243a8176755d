/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dirty.h -- which bytes of the region were written and not flushed since.
 *
 * Two levels of bits: one for each grain of the region, and one for each word
 * of those that is not 0. A write sets bits and allocates nothing; a flush
 * takes the extents out in ascending order, each as long as it can be.
 */
#ifndef DIRTY_H
#define DIRTY_H

#include <stdbool.h>
#include <stdint.h>

struct extent {
	uint64_t begin;
	uint64_t end; /* not of it */
};

struct dirty {
	uint64_t bytes; /* the region's size */
	unsigned grain_shift;
	uint64_t *bits;
	uint64_t *summary;
	uint64_t words; /* number of 64-bit words */
	uint64_t summary_words;
	uint64_t first; /* no summary word below it has a bit */
};

/*
 * grain: all offsets and lengths are multiples of it; rounded down to the
 * largest power of two that divides it, and 0 stands for 1. Where the bits
 * would be more than DIRTY_BITS_MAX it is made larger, and extents are rounded
 * to it, outwards. The region is not empty. -ENOMEM.
 */
#define DIRTY_BITS_MAX (1ULL << 28)
int dirty_open(struct dirty *dirty, uint64_t region_bytes, uint64_t grain);
void dirty_close(struct dirty *dirty);

/* The range is within the region: the caller has checked. */
void dirty_mark(struct dirty *dirty, uint64_t begin, uint64_t end);
bool dirty_any(const struct dirty *dirty);
/* Takes the lowest extent out; false: there is none. */
bool dirty_take(struct dirty *dirty, struct extent *extent);
/* All is clean. */
void dirty_clear(struct dirty *dirty);

#endif /* DIRTY_H */
