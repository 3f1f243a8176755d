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

struct operation {
	enum bench_op op;
	enum bench_persist persist;
	const char *latency_kind; /* a word of the schema */
	uint32_t work_requests;	  /* posted per operation */
	bool flushes;		  /* its last work request is a flush */
	bool answered;		  /* ends with a message of the server, not with a completion of its own */
	/* Tells what librpma needs to know of memory, RPMA_MR_USAGE_*. */
	int source_usage;
	int sink_usage;
	/*
	 * Posts it all. With signal the last work request completes, with slot
	 * as its context; without, nothing of it does unless it fails.
	 */
	int (*post)(struct lane *lane, uint32_t slot, bool signal);
	/* NULL, or makes the receive of the slot's answer ready again. */
	int (*rearm)(struct lane *lane, uint32_t slot);
};

/* NULL: no such combination. */
const struct operation *operation_find(enum bench_op op, enum bench_persist persist);

static inline const void *operation_context(uint32_t slot)
{
	return (const void *)(uintptr_t)slot;
}

#endif /* OPERATION_H */
