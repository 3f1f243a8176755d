/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mr.h -- protection domains and memory regions.
 */
#ifndef SOFT_VERBS_MR_H
#define SOFT_VERBS_MR_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "soft_device/process/segment.h"

#define MR_SETTLE_NS UINT64_C(100000000) /* to wait for operations under way */

struct pd {
	struct ibv_pd ibv;	/* first */
	uint32_t number;	/* never 0, never used twice in a process */
	_Atomic uint32_t users; /* MRs, QPs, SRQs, AHs, domains: EBUSY while there are any */
	uint32_t generation;
	/* of a parent domain, see domain.c; else NULL */
	struct pd *parent_of; /* the PD that it has the number of */
	struct ibv_td *td;    /* may be NULL */
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type); /* NULL: none, nor free */
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

struct mr {
	struct ibv_mr ibv; /* first */
	struct shared_mr *shared;
	uint32_t generation;
	/* while it is taken back: QPs before this one are done with it */
	uint32_t settled;
	struct mr *next_held;
};

/*
 * No operation that was under way on the QPs from *settled on, a table index, is under way any
 * more; false at `deadline_ns`, and *settled is the QP that is still in use. No lock needed.
 */
bool mr_settle_qps(uint32_t *settled, uint64_t deadline_ns);
/* No operation that saw its key is under way any more, by `deadline_ns`; no lock needed. */
bool mr_settle(struct mr *mr, uint64_t deadline_ns);
/* Its place is free; frees it. Objects lock held. */
void mr_let_go(struct mr *mr);

static inline struct pd *pd_of(struct ibv_pd *ibv)
{
	return (struct pd *)ibv;
}

#endif /* SOFT_VERBS_MR_H */
