/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h -- what one measured operation posts, and what its latency is
 * called. Adding one is adding a file in op/ and a row in protocol/operations.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/cdefs.h>

#include "qp.h"

/* GPSPM's, one per slot: the request, and behind it where its answer arrives. */
#define OPERATION_NOTE_BYTES  64
#define OPERATION_NOTE_ANSWER 32

/* Posts to, or from, a slot of the target. */
typedef int operation_post_at(struct qp *qp, uint64_t target_slot, uint32_t slot, int flags);

typedef int operation_post(struct qp *qp, uint32_t slot, int flags);

struct loop;

struct operation {
	enum bench_op op;
	enum bench_persist persist;
	const char *latency_kind; /* a word of the schema */
	uint32_t work_requests;	  /* posted to the send queue, per operation */
	bool flushes;		  /* ends with a flush */
	bool atomic_writes;	  /* ends with an atomic write */
	bool answered; /* ends with a message of the server, and its request completes too */
	/* The usage of memory, RPMA_MR_USAGE_*; 0: not used. */
	int source_usage;
	int sink_usage;
	int notes_usage;
	/*
	 * Posts it all, with slot as its context. The flags, RPMA_F_COMPLETION_* and maybe
	 * RPMA_F_MORE, are of its last work request; all before it have the queue pair's leading
	 * ones, and complete only if they fail.
	 */
	operation_post *post;
	/* NULL, or the measuring loop of depth 1 with the post taken in */
	int (*single)(struct loop *loop);
	/*
	 * NULL, or the operation up to its atomic write, which has no completion of its
	 * own in the whole: posted once before the measurement, to see how it completes.
	 */
	const struct operation *up_to_atomic_write;
	/* For answered ones: posts the receive of the slot's answer. */
	int (*arm)(struct qp *qp, uint32_t slot);
	/*
	 * For answered ones: NULL, or what is wrong with the answer to slot,
	 * which has this many bytes and arrived in slot `at`: receives are used
	 * in their own order.
	 */
	const char *(*refusal)(const struct qp *qp, uint32_t slot, uint32_t at, uint32_t bytes);
};

/* Readies a connected queue pair for its first operations; a librpma error. */
int operation_arm(const struct operation *operation, struct qp *qp, uint32_t depth);

/*
 * Posts an operation at the next slot of access. Most often that is known at
 * once, and post_at, a constant, is taken in here.
 */
int operation_post_next(struct qp *qp, struct access *access, uint32_t slot, int flags,
			operation_post_at *post_at);

static __always_inline int operation_post_in(struct qp *qp, struct access *access, uint32_t slot,
					     int flags, operation_post_at *post_at)
{
	if (__builtin_expect(!access_in_turn(access), 0))
		return operation_post_next(qp, access, slot, flags, post_at);
	return post_at(qp, access->next++, slot, flags);
}

static inline const void *operation_context(uint32_t slot)
{
	return (const void *)(uintptr_t)slot;
}

/* Writes a slot of the target from its window of the source. */
static __always_inline int operation_write_slot(struct qp *qp, uint64_t target_slot, uint32_t slot,
						int flags)
{
	const struct access *a = &qp->access;

	return rpma_write(qp->conn, qp->remote, access_offset(a, target_slot), qp->source,
			  qp->source_offset + access_source(a, target_slot), qp->size_bytes,
			  flags | qp->inlined, operation_context(slot));
}

static __always_inline int operation_flush_slot(struct qp *qp, uint64_t target_slot, uint32_t slot,
						int flags)
{
	return rpma_flush(qp->conn, qp->remote, access_offset(&qp->access, target_slot),
			  qp->size_bytes, qp->flush_type, flags, operation_context(slot));
}
