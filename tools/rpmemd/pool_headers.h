/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_headers.h -- the headers of open parts: read, written and durable.
 *
 * The headers of all parts but the first lie outside of the mapped pool, so each
 * is mapped for as long as it is used. For a pool set without headers all are good,
 * and nothing is done. Otherwise a negative errno, with the error message set.
 */
#ifndef RPMEMD_POOL_HEADERS_H
#define RPMEMD_POOL_HEADERS_H

#include "pool_files.h"
#include "pool_header.h"

/* -EEXIST: where a header would be, there are bytes other than zeros. */
int pool_headers_check_empty(const struct pool_files *files, const struct pool_set *set);
/* Those of a pool just made; each part with one gets header_made. */
int pool_headers_create(struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr);
/* Verifies all; attr gets what the pool was made with, or stays. -EINVAL. */
int pool_headers_open(const struct pool_files *files, const struct pool_set *set,
		      struct rpmem_pool_attr *attr);
int pool_headers_change(const struct pool_files *files, const struct pool_set *set,
			const struct rpmem_pool_attr *attr);
/* Makes the first 4096 bytes of an open part zeros. */
int pool_headers_clear(const struct pool_files *files, size_t part);

#endif /* RPMEMD_POOL_HEADERS_H */
