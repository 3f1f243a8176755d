/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h -- what one measured operation posts, and what its latency is
 * called. Adding one is adding a file and a row in operation.c.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include <librpma.h>
#include <stdint.h>

#include "options.h"

/* One connection as the measuring thread uses it. */
struct lane {
	struct rpma_conn *conn;
	struct rpma_mr_local *local;
	struct rpma_mr_remote *remote;
	uint64_t size_bytes;
	uint64_t local_stride;	/* distance of two slots of the local buffer */
	uint64_t remote_stride; /* distance of two successive operations */
	uint64_t remote_end;	/* the first offset at which no operation fits */
	uint64_t remote_offset; /* of the next operation */
	enum rpma_flush_type flush_type;
};

struct operation {
	enum bench_op op;
	enum bench_persist persist;
	const char *latency_kind; /* a word of the schema */
	uint32_t work_requests;	  /* posted per operation */
	int local_usage;	  /* RPMA_MR_USAGE_* of the local buffer */
	int flushes;		  /* its last work request is a flush */
	/* Posts it all; the last work request completes with slot as its context. */
	int (*post)(struct lane *lane, uint32_t slot);
};

extern const struct operation operation_write;
extern const struct operation operation_write_flush;
extern const struct operation operation_read;

/* NULL: no such combination. */
const struct operation *operation_find(enum bench_op op, enum bench_persist persist);

static inline const void *operation_context(uint32_t slot)
{
	return (const void *)(uintptr_t)slot;
}

/* Where the next operation goes; the whole region in turn. */
static inline uint64_t operation_next_offset(struct lane *lane)
{
	uint64_t offset = lane->remote_offset;

	lane->remote_offset += lane->remote_stride;
	if (lane->remote_offset >= lane->remote_end)
		lane->remote_offset = 0;
	return offset;
}

#endif /* OPERATION_H */
