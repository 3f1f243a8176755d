/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * region.h -- memory that one host registers for another, and the descriptors
 * by which the other one learns of it.
 */
#pragma once

#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handshake.h"
#include "target.h"

struct region {
	struct rpma_mr_local *mr;
	uint8_t flush_types; /* a bit for each enum rpma_flush_type */
	struct region_desc desc;
};

/* For remote read, write and flush. `of` names in the failure what it is a part of. */
struct region_memory {
	void *bytes;
	size_t size;
	enum target_kind kind;
	const char *of;
	bool direct_write_to_pmem; /* what the operator states of the host */
};

int region_open(struct region *region, struct rpma_peer *peer, const char *device,
		const struct region_memory *memory);
void region_close(struct region *region);

/* The reply that welcomes a client to the region; NULL: to none, or it refuses. */
void region_encode_reply(const struct region *region, enum handshake_answer answer, uint64_t word,
			 uint8_t bytes[HANDSHAKE_REPLY_BYTES]);

struct region_remote {
	struct rpma_mr_remote *mr; /* the caller deletes it, also after a failure */
	uint64_t addr;		   /* in the other process */
	size_t bytes;
	int flush_types; /* bits of RPMA_MR_USAGE_FLUSH_TYPE_* */
	bool direct_write_to_pmem;
};

/* Makes the region usable over the connection; an error of librpma, without a message. */
int region_take(struct region_remote *remote, const struct region_desc *desc,
		struct rpma_conn *conn);

/*
 * `length` bytes from `addr` on were written over the connection, and are durable for all that this
 * program knows: a software device that checks programs (rpma-soft --check) compares that with what
 * was flushed. On any other device it does nothing. No write to these bytes is under way.
 */
void region_mark_durable(const struct rpma_conn *conn, uint64_t addr, size_t length);
/* False: a mark would do nothing. */
bool region_marks_are_heard(void);
