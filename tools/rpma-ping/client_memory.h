/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * client_memory.h -- the client's memory: the patterns, and the sink of reads.
 */
#ifndef CLIENT_MEMORY_H
#define CLIENT_MEMORY_H

#include <librpma.h>
#include <stddef.h>
#include <stdint.h>

struct client_memory {
	uint8_t *bytes;
	size_t stride_bytes; /* from the one to the other to the sink */
	size_t size_bytes;   /* all together */
	struct rpma_mr_local *mr;
};

int client_memory_open(struct client_memory *memory, struct rpma_peer *peer, const char *device,
		       unsigned patterns, size_t size);
void client_memory_close(struct client_memory *memory);

#endif /* CLIENT_MEMORY_H */
