/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr.h -- protection domains, memory regions, and the check of a key.
 */
#ifndef SOFT_VERBS_MR_H
#define SOFT_VERBS_MR_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "soft_device/process/segment.h"

struct pd {
	struct ibv_pd ibv;	/* first */
	uint32_t number;	/* never 0, never used twice in a process */
	_Atomic uint32_t users; /* MRs, QPs, SRQs, AHs: EBUSY while there are any */
	uint32_t generation;
};

struct mr {
	struct ibv_mr ibv; /* first */
	struct shared_mr *shared;
	uint32_t generation;
};

static inline struct pd *pd_of(struct ibv_pd *ibv)
{
	return (struct pd *)ibv;
}

/*
 * The region of `key` in this segment when it may be used: it is of this PD, has all of
 * `access`, and holds length bytes from addr (in its iova terms; a length of 0 needs a valid key
 * only where the caller asks at all). *memory is where addr is in the owner's memory. NULL
 * otherwise. Safe against any key, address and length.
 */
const struct shared_mr *mr_check(const struct segment *segment, uint32_t key, uint32_t pd,
				 uint64_t addr, uint64_t length, uint32_t access, uint64_t *memory);

#endif /* SOFT_VERBS_MR_H */
