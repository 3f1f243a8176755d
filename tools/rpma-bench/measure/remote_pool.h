/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_pool.h -- a pool of librpmem, for operations that are calls of that library
 * instead of work requests.
 *
 * The library is loaded when it is first asked for, as libpmemobj does it: any build can
 * measure any librpmem.so.1. It reaches its target with ssh and rpmemd; the server of
 * rpma-bench has no part in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/host/topology.h"

struct remote_pool;

struct remote_pool_cfg {
	const char *target; /* [USER@]HOST[:PORT] */
	const char *set;    /* the pool set file on it */
	size_t bytes;	    /* to be persisted */
	uint32_t lanes;
	const struct topology *topology;
	int node; /* NUMA node of the local memory; -1: the kernel chooses */
};

/* The words of the schema for the pool; NULL: the library did not tell. */
struct remote_pool_facts {
	const char *transport; /* "rdma", "tcp" */
	const char *method;    /* "apm", "gpspm" */
};

/* Creates the pool; -EIO with the error message set. A pool that is there is refused. */
int remote_pool_open(struct remote_pool **pool, const struct remote_pool_cfg *cfg);
/* Removes it from its target as well; NULL is fine. */
void remote_pool_close(struct remote_pool **pool);
struct remote_pool_facts remote_pool_facts(const struct remote_pool *pool);

/* rpmem_persist() of a range that begins so far behind the metadata; -EIO as above. */
int remote_pool_persist(const struct remote_pool *pool, uint32_t lane, uint64_t offset,
			uint64_t bytes, bool relaxed);
