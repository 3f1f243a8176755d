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

static bool is_unmapped(const struct segment *segment, uint32_t key, uint64_t memory,
			uint64_t length)
{
	uint32_t used = atomic_load(&segment->unmapped_used);

	if (used > SEGMENT_UNMAPPED)
		used = SEGMENT_UNMAPPED; /* a peer's word */
	for (uint32_t i = 0; i < used && length > 0; i++) {
		const struct shared_unmapped *unmapped = &segment->unmapped[i];

		if (atomic_load(&unmapped->key) == key && memory < atomic_load(&unmapped->to) &&
		    atomic_load(&unmapped->from) < memory + length)
			return true;
	}
	return false;
}

const struct shared_mr *mr_check(const struct segment *segment, uint32_t key, uint32_t pd,
				 uint64_t addr, uint64_t length, uint32_t access, uint64_t *memory)
{
	const struct shared_mr *mr = mr_check_quick(segment, key, pd, addr, length, access, memory);

	if (mr != NULL)
		return mr;
	mr = mr_check_quick(segment, key, pd | MR_UNMAPPED, addr, length, access, memory);
	if (mr == NULL)
		return NULL;
	if ((mr->access & MR_NULL) != 0) {
		*memory = mr->addr + (access & IBV_ACCESS_LOCAL_WRITE ? 0 : SOFT_MAX_MESSAGE);
		return mr;
	}
	return is_unmapped(segment, key, *memory, length) ? NULL : mr;
}

/* True if the requests that come to this QP may use the window at this index. */
static bool is_for(const struct segment *segment, uint32_t index, const struct shared_qp *qp)
{
	const uint8_t type = segment->mr[index].window;

	return type == IBV_MW_TYPE_1 ||
	       (type == IBV_MW_TYPE_2 && segment->window[index].qp == shared_qp_name(segment, qp));
}

const struct shared_mr *mr_check_window(const struct segment *segment, const struct shared_qp *qp,
					uint32_t key, uint64_t addr, uint64_t length,
					uint32_t access, uint64_t *memory)
{
	const struct shared_mr *window =
		mr_check_quick(segment, key, qp->pd | MR_WINDOW, addr, length, access, memory);
	const struct shared_mr *region;
	uint32_t region_key;

	if (window == NULL || !is_for(segment, key >> 8, qp))
		return NULL;
	region_key = segment->window[key >> 8].region;
	if (region_key >> 8 >= SEGMENT_MRS)
		return NULL;
	region = &segment->mr[region_key >> 8];
	/* pages may have been unmapped, before the window was bound or since */
	return mr_check(segment, region_key, qp->pd, *memory - region->addr + region->iova, length,
			0, memory);
}

bool mr_invalidate_window(struct segment *segment, const struct shared_qp *qp, uint32_t key)
{
	const uint32_t index = key >> 8;
	struct shared_mr *window;

	if (key == 0 || index >= SEGMENT_MRS)
		return false;
	window = &segment->mr[index];
	if (atomic_load(&window->key) != key || window->window != IBV_MW_TYPE_2 ||
	    window->pd != (qp->pd | MR_WINDOW) || !is_for(segment, index, qp))
		return false;
	atomic_store(&window->key, 0);
	return true;
}

/* Generations of an entry go from 1 to 255 and begin again: those up to the last one were in use.
 */
static bool was_in_use(const struct shared_mr *mr, uint32_t key)
{
	const uint8_t generation = (uint8_t)key;

	return generation != 0 && generation <= mr->last;
}

enum vendor_err mr_reason(const struct segment *segment, uint32_t key, uint32_t pd, uint64_t addr,
			  uint64_t length, uint32_t access)
{
	const uint32_t index = key >> 8;
	const struct shared_mr *mr;
	uint64_t memory;

	if (key == 0 || index >= SEGMENT_MRS)
		return VENDOR_KEY_UNKNOWN;
	mr = &segment->mr[index];
	if (atomic_load(&mr->key) != key && mr->window != 0)
		return VENDOR_WINDOW_UNBOUND;
	if (atomic_load(&mr->key) != key)
		return was_in_use(mr, key) ? VENDOR_KEY_STALE : VENDOR_KEY_UNKNOWN;
	if ((mr->pd & ~(MR_UNMAPPED | MR_WINDOW)) != pd)
		return VENDOR_KEY_PD;
	if ((mr->access & access) != access)
		return VENDOR_KEY_RIGHT;
	if (mr_check_quick(segment, key, mr->pd, addr, length, access, &memory) == NULL)
		return VENDOR_KEY_RANGE;
	if (mr->window != 0)
		return VENDOR_WINDOW_USE;
	return mr_check(segment, key, pd, addr, length, access, &memory) == NULL ? VENDOR_UNMAPPED
										 : VENDOR_NONE;
}
