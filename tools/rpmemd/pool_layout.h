/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_layout.h -- where each part of a pool is in the pool, and from which offset of
 * its file it is mapped. Arithmetic only.
 *
 * Without options each part begins with a header of its own, and that of the first
 * part alone is in the pool: pool bytes 0 to 4095.
 */
#ifndef RPMEMD_POOL_LAYOUT_H
#define RPMEMD_POOL_LAYOUT_H

#include "pool_set.h"

struct pool_layout_part {
	/* set by the caller */
	uint64_t file_bytes;
	size_t alignment; /* mappings need it: the page, or what the device DAX has */
	bool is_dax;	  /* device DAX */
	/* set by pool_layout() */
	size_t offset; /* in the pool */
	size_t length;
	uint64_t file_offset;
};

/* How many of the parts, from the first on, have a header. */
size_t pool_layout_headers(const struct pool_set *set);

/*
 * Lays out the set's parts; *bytes gets the size of the pool. -EINVAL with the
 * error message set: a part is too small, the pool too large, device DAX is mixed with
 * files, or its alignment does not allow a header in each part.
 */
int pool_layout(const struct pool_set *set, struct pool_layout_part parts[], size_t *bytes);

#endif /* RPMEMD_POOL_LAYOUT_H */
