/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory.h -- the client's memory: the two images, and the sink of reads.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <librpma.h>
#include <stddef.h>
#include <stdint.h>

struct memory {
	uint8_t *bytes;
	size_t stride_bytes; /* from the one to the other to the sink */
	size_t size_bytes;   /* of all three */
	struct rpma_mr_local *mr;
};

int memory_open(struct memory *memory, struct rpma_peer *peer, const char *device, size_t size);
void memory_close(struct memory *memory);

#endif /* MEMORY_H */
