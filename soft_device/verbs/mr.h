/* SPDX-License-Identifier: BSD-3-Clause */
/* mr.h -- protection domains and memory regions. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#include "soft_device/process/segment.h"

#define MR_SETTLE_NS UINT64_C(100000000) /* to wait for operations under way */

struct pd {
	struct ibv_pd ibv;	/* first */
	uint32_t number;	/* never 0, never used twice in a process */
	_Atomic uint32_t users; /* MRs, QPs, SRQs, AHs, domains: EBUSY while there are any */
	uint32_t generation;
	/* a parent domain has these, see domain.c; else NULL */
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
	_Atomic uint32_t
		*memory_users; /* those of the device memory that it is in; NULL: in none */
	/* while it is taken back: QPs before this one are done with it */
	uint32_t settled;
	struct mr *next_held;
};

/*
 * A region of this memory, for `call`: of `wanted` counts what there is from access to iova, and
 * bits for shared_mr.pd. NULL with errno.
 */
struct mr *mr_new(const char *call, struct pd *pd, const struct shared_mr *wanted);
/* mr_more.c, dm.c, reached through the verbs_context */
int mr_advise(struct ibv_pd *ibv, enum ibv_advise_mr_advice advice, uint32_t flags,
	      struct ibv_sge *sge, uint32_t num_sge);
struct ibv_mr *mr_alloc_null(struct ibv_pd *ibv);
struct ibv_dm *dm_alloc(struct ibv_context *ibv, struct ibv_alloc_dm_attr *attr);
int dm_free(struct ibv_dm *ibv);
struct ibv_mr *dm_reg_mr(struct ibv_pd *ibv, struct ibv_dm *dm, uint64_t offset, size_t length,
			 unsigned int access);

/* A free entry of the table for a window, and its first key; NULL: there is none. */
struct shared_mr *mr_take_window(const struct pd *pd, enum ibv_mw_type type, uint32_t *key);
void mr_give_window(struct shared_mr *window); /* objects lock held */
/* mw.c: a region with this key has a window in force; no lock held. */
bool mw_is_bound_to(uint32_t region_key);

/* No operation that saw its key is under way any more, by `deadline_ns`; no lock needed. */
bool mr_settle(struct mr *mr, uint64_t deadline_ns);
/* Its entry is free; frees it. Objects lock held. */
void mr_let_go(struct mr *mr);

static inline struct pd *pd_of(struct ibv_pd *ibv)
{
	return (struct pd *)ibv;
}
