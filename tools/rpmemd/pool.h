/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h -- a pool of this host: the parts of a pool set, locked, mapped one
 * after another, with or without headers.
 */
#ifndef RPMEMD_POOL_H
#define RPMEMD_POOL_H

#include <librpmem.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/common/rdma/target.h"

struct pool; /* one pool, mapped */

/*
 * Each of the following returns 0 or a negative errno, with the sentence stored by
 * failure_set(); `directory` is the pool set directory, `name` a path below it.
 */

/* attr NULL or all zero: the set must say NOHDRS. Only parts that this call made are removed if it
 * fails. */
int pool_create(struct pool **pool, const char *directory, const char *name, size_t size,
		const struct rpmem_pool_attr *attr);
/* Fills attr, with zeros for a pool without headers. */
int pool_open(struct pool **pool, const char *directory, const char *name, size_t size,
	      struct rpmem_pool_attr *attr);
/* Durable when it returns. */
int pool_set_attr(struct pool *pool, const struct rpmem_pool_attr *attr);
/* Unmaps and unlocks; with `remove` unlinks the parts that pool_create() has made. NULL is fine. */
void pool_close(struct pool **pool, bool remove);
/* Removes the parts, and with `with_set` the set file; `force` as rpmem_remove() has it. Never one
 * that is locked. */
int pool_remove(const char *directory, const char *name, bool force, bool with_set);

unsigned char *pool_memory(const struct pool *pool);
size_t pool_size(const struct pool *pool);
bool pool_has_headers(const struct pool *pool);
/* All parts are device DAX or mapped with MAP_SYNC; PMEM_IS_PMEM_FORCE=0 or 1 overrules it. */
bool pool_is_pmem(const struct pool *pool);
/* The weakest kind of its parts. */
enum target_kind pool_kind(const struct pool *pool);
/* Makes a range durable, each part by what its medium needs. -EINVAL: not within the pool. */
int pool_persist(const struct pool *pool, size_t offset, size_t length);
/* The same down to the medium: libpmem's deep persist where it is PMem. */
int pool_deep_persist(const struct pool *pool, size_t offset, size_t length);

#endif /* RPMEMD_POOL_H */
