/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_watch.h -- what `rpma-soft --check` keeps of a send queue: private to sq.c and sq_check*.c. */
#pragma once

#include "sq.h"

/* A request that was posted, beside its slot. */
struct sq_post {
	uint32_t stack;
	bool has_sum;
	/* the first piece of which the region went while it was in flight, from 1 on; 0: none */
	uint8_t lost_piece;
	uint64_t sum;	  /* over the bytes that it sends */
	uint64_t hold_ns; /* not executed before, but by a thread that polls; 0: at once */
};

/* A request that is not kept, to tell it from others that are built later in the same place. */
struct sq_request {
	uint64_t wr_id;
	uint64_t memory; /* the first piece; 0: none */
	uint64_t remote_addr;
	uint32_t opcode;
};

/* Written under sq.lock. */
struct sq_watch {
	bool sums;	/* are wanted, to find sources that change */
	bool holds_all; /* the last request was held: it is of a place that is not known well yet */
	uint64_t number;    /* how many requests, in all */
	const void *poster; /* the thread that posted the last one */
	/* posted in part; NULL: none was, or it went on */
	_Atomic(const struct ibv_send_wr *) list;
	const struct ibv_send_wr *rest; /* what was not */
	struct sq_request head;		/* the first of the list */
	struct sq_request first_of_rest;
	struct sq_commit *commits; /* marks of commit words: sq_check_durable.c */
	struct sq_post posts[];	   /* as many as there are slots */
};

/* NULL: nothing was posted yet. */
static inline struct sq_watch *sq_watch(const struct send_queue *sq)
{
	return atomic_load_explicit(&sq->watch, memory_order_relaxed);
}

/* Made if there was none; NULL: there is no memory. */
struct sq_watch *sq_watch_new(struct send_queue *sq);
static inline struct sq_watch *sq_watch_of(struct send_queue *sq)
{
	struct sq_watch *watch = sq_watch(sq);

	return watch != NULL ? watch : sq_watch_new(sq);
}

static inline struct sq_post *sq_post_at(const struct send_queue *sq, uint32_t number)
{
	struct sq_watch *watch = sq_watch(sq);

	return watch == NULL ? NULL : &watch->posts[number & (sq->count - 1)];
}

/* How many of the newest requests that take a slot have no completion of their own. */
uint32_t sq_check_unsignaled(const struct send_queue *sq, uint32_t *first);

/* A list was posted in part, and the rest was not yet: seldom. One thread posts in parts. No lock
 * is held, and another thread may have made the watch. */
static inline bool sq_check_is_in_part(const struct send_queue *sq)
{
	const struct sq_watch *watch = atomic_load_explicit(&sq->watch, memory_order_acquire);

	return watch != NULL && atomic_load_explicit(&watch->list, memory_order_relaxed) != NULL;
}

/*
 * sq_check_source.c: a sum of the bytes that the request sends, as they are now. False: it sends
 * none of the program's memory, or some of it cannot be read.
 */
bool sq_source_sum(const struct send_queue *sq, struct send_work *work, uint64_t *sum);
/* A read or an atomic before it in the queue brings the bytes that it sends: not the program. */
bool sq_source_is_brought(const struct send_queue *sq, const struct send_work *work);
void sq_source_tell(const struct send_queue *sq, const struct send_work *work, uint32_t stack)
	__attribute__((cold));

/* sq_check_flight.c: the oldest request fails as the region of this piece went while it was in
 * flight, which was reported then. */
bool sq_check_is_lost(const struct send_queue *sq, const struct send_work *work,
		      const struct ibv_sge *piece);

/*
 * sq_check_durable.c: a request is posted, the next one, and there are marks or messages are
 * claims; the request of this number is about to be executed, and there are marks; the watch ends.
 */
void sq_check_claims(struct send_queue *sq, const struct send_work *work, uint32_t stack);
void sq_check_commits(struct send_queue *sq, uint32_t number);
void sq_check_forget_commits(struct sq_watch *watch);
