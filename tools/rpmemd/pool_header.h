/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_header.h -- the 4096 bytes at the begin of a part, in the layout of PMDK.
 *
 * Little-endian:
 *    0 signature 8 | major 4 | compat 4 | incompat 4 | ro_compat 4
 *   24 pool set uuid | 40 this part's | 56 previous part's | 72 next part's
 *   88 previous replica's | 104 next replica's uuid, 16 each
 *  120 creation time 8, in s | 128 architecture flags 16 | 144 zeros
 * 4024 shutdown state 64, kept as it is | 4088 checksum 8
 * The uuids of the parts form a ring. Bytes in, values out, no I/O.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_HEADER_BYTES    4096

#define POOL_HEADER_SINGLE   0x1U /* incompat: OPTION SINGLEHDR */
#define POOL_HEADER_SHORT_CK 0x2U /* incompat: the checksum is of bytes 0 to 2047 only */

struct pool_header {
	struct rpmem_pool_attr attr; /* its uuid is that of this part */
	unsigned char previous_part[RPMEM_POOL_HDR_UUID_LEN];
	unsigned char next_part[RPMEM_POOL_HDR_UUID_LEN];
	uint64_t created_s;
};

/*
 * Fills in what attr leaves open, for a pool just made: random uuids, this pool as its
 * own neighbour replica, the architecture flags of this host. Makes the ring. The
 * caller has set created_s.
 */
int pool_header_create(struct pool_header headers[], size_t count,
		       const struct rpmem_pool_attr *attr);
/* Puts other attributes, exactly these, into headers that were decoded. */
void pool_header_change(struct pool_header headers[], size_t count,
			const struct rpmem_pool_attr *attr);

/* Overwrites the fields and the checksum; the other bytes stay. */
void pool_header_encode(const struct pool_header *header, uint8_t bytes[POOL_HEADER_BYTES]);
/* -EINVAL with the error message set: all zeros, or a wrong checksum. `name` is for it. */
int pool_header_decode(const char *name, const uint8_t bytes[POOL_HEADER_BYTES],
		       struct pool_header *header);
/* Checks that headers are of one pool, in this order; -EINVAL with the error message set. */
int pool_header_verify(const char *name, const struct pool_header headers[], size_t count);

bool pool_header_is_empty(const uint8_t bytes[POOL_HEADER_BYTES]);
/* NULL or all zero: a pool without headers. */
bool pool_header_no_attr(const struct rpmem_pool_attr *attr);
uint64_t pool_header_checksum(const uint8_t bytes[POOL_HEADER_BYTES]);
