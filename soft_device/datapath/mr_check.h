/* SPDX-License-Identifier: BSD-3-Clause */
/* mr_check.h -- whether a key opens a range of memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "soft_device/process/segment.h"
#include "soft_device/transport/vendor_err.h"

/*
 * The region of `key` in this segment when it may be used: it is of this PD, has all of
 * `access`, and holds length bytes from addr (in its iova terms; a length of 0 needs a valid key
 * only where the caller asks at all). *memory is where addr is in the owner's memory. NULL
 * otherwise. Safe against any key, address and length.
 */
const struct shared_mr *mr_check(const struct segment *segment, uint32_t key, uint32_t pd,
				 uint64_t addr, uint64_t length, uint32_t access, uint64_t *memory);

/*
 * The same for the short way of a request, which leaves everything unusual to the long way: NULL
 * also for a region of which the program has unmapped a part. Inlined, as each has two.
 */
static inline __attribute__((always_inline)) const struct shared_mr *
mr_check_quick(const struct segment *segment, uint32_t key, uint32_t pd, uint64_t addr,
	       uint64_t length, uint32_t access, uint64_t *memory)
{
	const uint32_t index = key >> 8;
	const struct shared_mr *mr;
	uint64_t offset;

	if (key == 0 || index >= SEGMENT_MRS)
		return NULL;
	mr = &segment->mr[index];
	/* not before the lock is taken: see shared_lock_try() */
	if (atomic_load(&mr->key) != key)
		return NULL;
	if (mr->pd != pd || (mr->access & access) != access)
		return NULL;
	offset = addr - mr->iova; /* huge for an address before it */
	if (length > 0 && (offset > mr->length || length > mr->length - offset))
		return NULL;
	*memory = mr->addr + offset;
	return mr;
}

/*
 * The same for a request that comes to this QP of the segment with the key of a memory window: the
 * region that is seen through it. Callers hold the lock of the QP.
 */
const struct shared_mr *mr_check_window(const struct segment *segment, const struct shared_qp *qp,
					uint32_t key, uint64_t addr, uint64_t length,
					uint32_t access, uint64_t *memory);

/*
 * Takes the window of type 2 with this key out of force, if it is for this QP. Callers hold the
 * lock of that, so no request uses the window any more.
 */
bool mr_invalidate_window(struct segment *segment, const struct shared_qp *qp, uint32_t key);

/*
 * Why mr_check() refused: the first of its checks that fails. VENDOR_NONE where all of them pass
 * by now, as the region has changed meanwhile.
 */
enum vendor_err mr_reason(const struct segment *segment, uint32_t key, uint32_t pd, uint64_t addr,
			  uint64_t length, uint32_t access) __attribute__((cold));
