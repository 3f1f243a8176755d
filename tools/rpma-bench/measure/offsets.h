/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offsets.h -- which bytes of the target each operation of a queue pair touches, and
 * what they hold afterwards.
 *
 * Client and server compute it from the same numbers, so the server can check
 * every byte without a list. The target is cut into one slice a queue pair, a slice
 * into slots; each operation takes the next slot, all of them in turn or in a
 * seeded permutation. The source of a write is a window of the same bytes as
 * its slot in the slice, so content follows from slot and salt alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/rpma-bench/protocol/params.h"

/*
 * Ranks drawn from a Zipf distribution: rank k of n is as likely as 1 / k^theta, so few of them
 * are drawn most of the time.
 */
struct zipf {
	uint64_t ranks;
	double theta;
	/* areas under the curve: up to the first rank, and up to the last */
	double first;
	double last;
	double sure; /* nearer to a rank than this, a draw needs no test */
	uint64_t random;
};

/* theta is above 0, and there is a rank at least. */
void zipf_init(struct zipf *zipf, uint64_t ranks, double theta, uint64_t seed);

/* 1 to ranks. */
uint64_t zipf_next(struct zipf *zipf);

#define ACCESS_LINE	    64
#define ACCESS_SOURCE_BYTES (4ULL << 20) /* a source is not larger, unless one operation is */

struct access {
	uint64_t base;	      /* where slots begin in the target; append: after its tail */
	uint64_t stride;      /* from slot to slot: the size, rounded up to lines */
	uint64_t slots;	      /* at least 1 */
	uint64_t source_mask; /* slots of the source - 1: slot n is written from n & source_mask */
	uint64_t salt;	      /* salt of the content; another one each repeat */
	uint64_t next;	      /* in turn: the slot; else the position in the permutation */
	uint64_t turn;	      /* slots there are in turn, known at once; 0: access_next() tells */
	bool sequential;
	/* the permutation */
	unsigned shift;
	uint64_t mask; /* power of two - 1, not less than slots - 1 */
	uint64_t keys[2];
	/* Zipf: a list of slots, gone through over and over; NULL: none. Borrowed. */
	const uint32_t *draws;
};

#define ACCESS_DRAWS 65536 /* a power of two */

/* Room a queue pair needs of the target; a target smaller than all of them need is refused. */
uint64_t access_slice_min(const struct params *params);

/*
 * The slice of one queue pair of a target that has room for all; seed is the run's
 * and the repeat's.
 */
void access_init(struct access *access, const struct params *params, uint64_t target_bytes,
		 uint32_t qp, uint64_t seed);

/*
 * For a Zipf pattern: draws the slots of a queue pair, and has the access go through them. Rank k
 * is the k-th slot of the permutation, so hot slots are anywhere in the slice.
 */
void access_draw(struct access *access, const struct params *params, uint32_t *draws);

/* Bytes of the source buffer of the queue pair: all slots of the source. */
size_t access_source_bytes(const struct access *access);
/* Fills it: what slot n & source_mask holds. */
void access_fill(const struct access *access, void *source);

/* The next slot if it is simply the one after the last one: with luck, all there is to do. */
static inline bool access_in_turn(const struct access *access)
{
	return access->next + 1 < access->turn;
}
/* The slot of the next operation; every slot once before any twice. */
uint64_t access_next(struct access *access);

/* In the target. */
static inline uint64_t access_offset(const struct access *access, uint64_t slot)
{
	return access->base + slot * access->stride;
}

/* In the source of the queue pair. */
static inline uint64_t access_source(const struct access *access, uint64_t slot)
{
	return (slot & access->source_mask) * access->stride;
}

/* append's tail: the word that holds how far the log is written, and where it is. */
static inline uint64_t access_tail_offset(const struct access *access)
{
	return access->base - ACCESS_LINE;
}
static inline uint64_t access_tail(const struct access *access, uint64_t slot)
{
	return (slot + 1) * access->stride;
}

/* The figures of a check of the target. */
struct access_check {
	uint64_t checked_bytes;
	uint64_t mismatches;   /* bytes that are not what was written */
	uint64_t first_offset; /* where the first is in the target; UINT64_MAX: none */
};

#define ACCESS_CHECK_NONE ((struct access_check){0, 0, UINT64_MAX})

/* Called now and then by what takes long. */
struct access_keepalive {
	void (*send)(void *arg);
	void *arg;
};

/*
 * Checks what `touched` operations left behind, from the first one of a fresh
 * access on, and adds to *check.
 */
void access_verify(const struct access *access, const struct params *params, const void *target,
		   uint64_t touched, struct access_check *check,
		   const struct access_keepalive *keepalive);
