/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pattern.h -- what pings write, and whether it came back.
 *
 * Patterns take turns that differ from each other in every byte, so every byte of a
 * ping differs from what was left there: what did not arrive shows. Pings of one size
 * need two. Sizes that ascend in cycles need three, as a byte may have been written
 * last by any larger ping of the cycle before.
 */
#pragma once

#include <librpma.h>
#include <stddef.h>
#include <stdint.h>

/* The client's memory: the patterns, and the sink of reads. */
struct client_memory {
	uint8_t *bytes;
	size_t stride_bytes; /* from the one to the other to the sink */
	size_t size_bytes;   /* all together */
	struct rpma_mr_local *mr;
};

int client_memory_open(struct client_memory *memory, struct rpma_peer *peer, const char *device,
		       unsigned patterns, size_t size);
void client_memory_close(struct client_memory *memory);

struct pattern_difference {
	uint64_t bytes; /* that differ */
	uint64_t first; /* the offset of the first */
	uint8_t expected;
	uint8_t found;
};

#define PATTERNS_MAX 3

struct pattern_turn {
	unsigned count;	  /* how many patterns: 2, or 3 */
	unsigned last;	  /* what was written last */
	unsigned avoided; /* what the cycle before wrote last: not in this one */
	size_t last_bytes;
};

/* The pattern for the next write, whose size is the next of its cycle. */
unsigned pattern_next(struct pattern_turn *turn, size_t bytes);

/* Fills up to PATTERNS_MAX patterns of size bytes, of the salt, each a stride after the other. */
void pattern_fill(uint8_t *patterns, size_t stride, unsigned count, size_t size, uint64_t salt);

/* found and expected differ somewhere. */
struct pattern_difference pattern_compare(const uint8_t *found, const uint8_t *expected,
					  size_t size);
