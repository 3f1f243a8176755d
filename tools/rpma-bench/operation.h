/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h -- what one measured operation posts, and what its latency is
 * called. Adding one is adding a file and a row in operation.c.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "lane.h"

/* Of GPSPM, one a slot: the request, and behind it where its answer arrives. */
#define OPERATION_NOTE_BYTES  64
#define OPERATION_NOTE_ANSWER 32

struct operation {
	enum bench_op op;
	enum bench_persist persist;
	const char *latency_kind; /* a word of the schema */
	uint32_t work_requests;	  /* posted to the send queue, per operation */
	bool flushes;		  /* ends with a flush */
	bool answered; /* ends with a message of the server, and its request completes too */
	/* What librpma needs to know of memory, RPMA_MR_USAGE_*; 0: not used. */
	int source_usage;
	int sink_usage;
	int notes_usage;
	/*
	 * Posts it all. With signal the last work request completes, with slot
	 * as its context; without, nothing of it does unless it fails.
	 */
	int (*post)(struct lane *lane, uint32_t slot, bool signal);
	/* Of answered ones: posts the receive of the slot's answer. */
	int (*arm)(struct lane *lane, uint32_t slot);
	/*
	 * Of answered ones: NULL, or what is wrong with the answer to slot, of so
	 * many bytes. Receives are used in their own order: it came in to slot at.
	 */
	const char *(*refusal)(const struct lane *lane, uint32_t slot, uint32_t at, uint32_t bytes);
};

/* NULL: no such combination. */
const struct operation *operation_find(enum bench_op op, enum bench_persist persist);

/* Readies a connected lane for its first operations; a librpma error. */
int operation_arm(const struct operation *operation, struct lane *lane, uint32_t depth);

static inline const void *operation_context(uint32_t slot)
{
	return (const void *)(uintptr_t)slot;
}

static inline int operation_flags(bool signal)
{
	return signal ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
}

/* Writes a slot of the target from its window of the source. */
static inline int operation_write_slot(struct lane *lane, uint64_t target_slot, int flags,
				       uint32_t slot)
{
	const struct access *a = &lane->access;

	return rpma_write(lane->conn, lane->remote, access_offset(a, target_slot), lane->source,
			  lane->source_offset + access_source(a, target_slot), lane->size_bytes,
			  flags, operation_context(slot));
}

static inline int operation_flush_slot(struct lane *lane, uint64_t target_slot, int flags,
				       uint32_t slot)
{
	return rpma_flush(lane->conn, lane->remote, access_offset(&lane->access, target_slot),
			  lane->size_bytes, lane->flush_type, flags, operation_context(slot));
}

#endif /* OPERATION_H */
