/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool.h -- a pool of this host: the parts of a pool set, locked, mapped one
 * after another, with or without headers.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/rdma/target.h"
#include "pool_files.h"
#include "pool_header.h"

struct pool; /* one pool, mapped */

/*
 * Each of the following returns 0 or a negative errno, with the error message set by
 * failure_set(); `directory` is the pool set directory, `name` a path below it.
 */

/*
 * attr NULL or all zero: the set has OPTION NOHDRS, else not. If it fails, the parts
 * that it has made are removed, and those that were there are as before.
 *
 * -ENOENT, -EACCES: the set or a part; -EFBIG: the pool is smaller than size; -EBUSY: a
 * part is locked; -EEXIST: a part has a header; -EINVAL: the name, the set, the attributes
 * or a part's size; others as open(2), mmap(2) and posix_fallocate(3).
 */
int pool_create(struct pool **pool, const char *directory, const char *name, size_t size,
		const struct rpmem_pool_attr *attr);
/* Fills attr, with zeros for a pool without headers. -EINVAL: the headers, too; else as above. */
int pool_open(struct pool **pool, const char *directory, const char *name, size_t size,
	      struct rpmem_pool_attr *attr);
/* The same, but allocates nothing: it is not to be written to. */
int pool_inspect(struct pool **pool, const char *directory, const char *name, size_t size,
		 struct rpmem_pool_attr *attr);
/* Durable when it returns. NULL: zeros. -EINVAL: the pool has no headers, and attr is not zero. */
int pool_set_attr(struct pool *pool, const struct rpmem_pool_attr *attr);
/*
 * Unmaps and unlocks. With `remove` a pool that was made goes: parts that pool_create() has
 * made are removed, those that were there lose the headers it wrote. NULL is fine.
 */
void pool_close(struct pool **pool, bool remove);
/*
 * Removes the parts, and with `with_set` the set file. Without `force` the pool must be
 * one that could be opened. -EBUSY, even by force: a part is locked, and all parts stay.
 */
int pool_remove(const char *directory, const char *name, bool force, bool with_set);

unsigned char *pool_memory(const struct pool *pool);
size_t pool_size(const struct pool *pool);
bool pool_has_headers(const struct pool *pool);
size_t pool_parts(const struct pool *pool);
/* Its file or device; borrowed. */
const char *pool_part_path(const struct pool *pool, size_t part);
/* All parts are device DAX or mapped with MAP_SYNC; PMEM_IS_PMEM_FORCE=0 or 1 overrules it. */
bool pool_is_pmem(const struct pool *pool);
/* The weakest kind of its parts. */
enum target_kind pool_kind(const struct pool *pool);
/* Makes a range durable, each part by what its medium needs. -EINVAL: not within the pool. */
int pool_persist(const struct pool *pool, size_t offset, size_t length);
/* The same down to the medium: where it is PMem, beyond the buffers of its controllers. */
int pool_deep_persist(const struct pool *pool, size_t offset, size_t length);

/* -EEXIST: where a header would be, there are bytes other than zeros. */
int pool_headers_check_empty(const struct pool_files *files, const struct pool_set *set);
/* Writes the headers of a new pool; each part with one gets header_made. */
int pool_headers_create(struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr);
/* Verifies all headers; attr gets the pool's attributes, or stays. -EINVAL. */
int pool_headers_open(const struct pool_files *files, const struct pool_set *set,
		      struct rpmem_pool_attr *attr);
int pool_headers_change(const struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr);
/* Makes the first 4096 bytes of an open part zeros. */
int pool_headers_clear(const struct pool_files *files, size_t part);
