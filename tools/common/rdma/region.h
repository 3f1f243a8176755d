/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.h -- memory of a server, registered for what a client may do with it,
 * and the descriptors by which the client learns of it.
 */
#ifndef COMMON_RDMA_REGION_H
#define COMMON_RDMA_REGION_H

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handshake.h"
#include "target.h"

struct region {
	struct rpma_mr_local *mr;
	uint8_t flush_types; /* a bit for each enum rpma_flush_type */
	uint8_t desc_bytes;
	uint8_t desc[GREETING_MR_DESC_MAX];
};

/* For remote read, write and flush. `of` names in the failure what it is a part of. */
struct region_memory {
	void *bytes;
	size_t size;
	enum target_kind kind;
	const char *of;
};

int region_open(struct region *region, struct rpma_peer *peer, const char *device,
		const struct region_memory *memory);
void region_close(struct region *region);

/* This host's description of itself as a peer. */
int region_describe_host(bool direct_write_to_pmem, uint8_t desc[GREETING_PCFG_DESC_MAX],
			 uint8_t *desc_bytes);

#endif /* COMMON_RDMA_REGION_H */
