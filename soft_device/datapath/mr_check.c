/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr_check.c -- the check of a key: what every operation asks before it touches memory.
 *
 * The key, the address and the length come from work requests and from peers: any number may come,
 * and none of them may lead out of a region. The table may change meanwhile: for
 * a key that a peer sent, the caller holds a lock that mr.c takes before it reuses an entry. A
 * program must not deregister a local key while it posts it.
 */
#include "mr_check.h"

const struct shared_mr *mr_check(const struct segment *segment, uint32_t key, uint32_t pd,
				 uint64_t addr, uint64_t length, uint32_t access, uint64_t *memory)
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
