/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.h -- memory regions as the data path sees them, and their descriptor. */
#pragma once

#include "peer.h"

struct rpma_mr_local {
	uint64_t addr; /* first byte */
	uint32_t lkey;
	uint16_t usage;	   /* RPMA_MR_USAGE_* */
	bool native_flush; /* registered for the native flush too */
	struct ibv_mr *ibv_mr;
};

struct rpma_mr_remote {
	uint64_t addr;
	uint64_t size;
	uint32_t rkey;
	uint16_t usage;	   /* RPMA_MR_USAGE_* */
	bool native_flush; /* flush natively where the queue pair can */
	bool may_be_1_3;   /* flushed by reading, though that may be weaker than librpma 1.3 */
};

enum {
	RPMA_MR_DESC_BASE_SIZE = 21, /* what librpma 0.9 to 1.3 write */
	RPMA_MR_DESC_SIZE = 22	     /* and a byte of flags */
};

/*
 * Register memory with the access that usage stands for, on demand if the
 * memory cannot be pinned. Sets errno when it returns NULL. native_flush may be
 * NULL when usage has no flush type.
 */
struct ibv_mr *rpma_mr_register(const struct rpma_peer *peer, void *ptr, size_t size, int usage,
				bool *native_flush);

/* Write the RPMA_MR_DESC_SIZE bytes that describe mr. */
void rpma_mr_desc_encode(const struct rpma_mr_remote *mr, uint8_t *desc);

/* Make its first RPMA_MR_DESC_BASE_SIZE bytes say how the region flushes. */
void rpma_mr_desc_shorten(uint8_t *desc);
