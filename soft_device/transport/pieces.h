/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pieces.h -- the bytes of a message in pieces, of which some are moved now and others later: each
 * lines of 64 bytes of the target, as a NIC writes and reads them.
 */
#pragma once

#include <stdint.h>

#include "request.h"
#include "soft_device/process/target_memory.h"

/* The pieces are dealt out to `groups` by the key; those of the groups from first to last move. */
struct pieces {
	const struct local_memory *local;
	bool reads;		/* from the other end */
	target_process process; /* whose memory is the other end */
	uint64_t key;
	unsigned groups;
	unsigned first;
	unsigned last;
};

/*
 * Moves them between `local` and this memory of the other end. Fits local_memory.receive. 0, or
 * -errno as target_memory_write().
 */
int pieces_move(void *pieces, uint64_t memory, uint64_t length);
