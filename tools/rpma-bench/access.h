/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * access.h -- which bytes of the target each operation of a lane touches, and
 * what they hold afterwards.
 *
 * Client and server compute it from the same numbers, so the server can check
 * every byte without a list. The target is cut into one slice a lane, a slice
 * into slots; operation n goes to slot_of(n), all slots in turn or in a seeded
 * permutation. The source of a write is a window of the same bytes as its
 * place in the slice, so content follows from place and salt alone.
 */
#ifndef ACCESS_H
#define ACCESS_H

#include <stddef.h>
#include <stdint.h>

#include "params.h"

#define ACCESS_LINE	    64
#define ACCESS_SOURCE_BYTES (4ULL << 20) /* a source is not larger, unless one operation is */

struct access {
	uint64_t base;	 /* of the slice in the target */
	uint64_t stride; /* of slots: the size, rounded up to lines */
	uint64_t slots;	 /* at least 1 */
	uint64_t source_slots; /* slots of the source; slot n is written from n % source_slots */
	uint64_t salt;	 /* of the content; another one each repeat */
	/* the permutation, and where it stands */
	bool random;
	uint64_t mask; /* power of two - 1, not less than slots - 1 */
	uint64_t step;
	uint64_t state;
};

/* Room a lane needs of the target; a target smaller than lanes x this is refused. */
uint64_t access_slice_min(const struct params *params);

/* The slice of one lane of a target; seed is the run's and the repeat's. */
void access_init(struct access *access, const struct params *params, uint64_t target_bytes,
		 uint32_t lane, uint64_t seed);

/* Bytes of the source buffer of the lane: source_slots x stride. */
size_t access_source_bytes(const struct access *access);
/* Fills it: what slot n % source_slots holds. */
void access_fill(const struct access *access, void *source);

/* The slot of the next operation; every slot once before any twice. */
static inline uint64_t access_next(struct access *a)
{
	if (!a->random) {
		uint64_t slot = a->state;

		a->state = slot + 1 == a->slots ? 0 : slot + 1;
		return slot;
	}
	/* a full-period generator modulo a power of two; what is beyond the slots is skipped */
	do {
		a->state = (a->state * 0x5851f42d4c957f2dULL + a->step) & a->mask;
	} while (a->state >= a->slots);
	return a->state;
}

/* What the server found in the first `touched` slots of the order of access. */
struct access_check {
	uint64_t checked_bytes;
	uint64_t mismatches;   /* bytes that are not what was written */
	uint64_t first_offset; /* in the target; UINT64_MAX: none */
};

/* -ENOMEM, or 0 with the numbers added to *check. */
int access_verify(const struct access *access, const struct params *params, const void *target,
		  uint64_t touched, struct access_check *check);

#endif /* ACCESS_H */
