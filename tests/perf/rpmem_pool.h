/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem_pool.h -- a remote pool as an application of librpmem opens it, for the programs
 * that measure the calls. What fails ends the process.
 */
#pragma once

#include <librpmem.h>
#include <stdbool.h>
#include <stdint.h>

#define POOL_BEGIN 4096 /* the first byte that is persisted: what precedes it is metadata */

struct pool {
	RPMEMpool *rpp;
	char *memory; /* the local pool, all of its pages touched */
	size_t bytes;
	unsigned nlanes;
};

_Noreturn void pool_fail(const char *what);
size_t pool_number(const char *text);

/* Creates the pool of this set on 127.0.0.1, or opens it. */
struct pool pool_connect(const char *set, size_t bytes, unsigned nlanes, bool create);
/* The local memory stays, for another pool_reconnect(). */
void pool_disconnect(struct pool *pool);
void pool_reconnect(struct pool *pool, const char *set);
void pool_persist(const struct pool *pool, size_t offset, size_t length, unsigned lane,
		  unsigned flags);
