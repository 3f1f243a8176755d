/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_pool.h -- a pool of rpmemd that is memory and no more, in the place of pool.c. The program
 * that includes this defines pool_persist() and pool_deep_persist().
 */
#pragma once

#include "tools/rpmemd/pool.h"

struct pool {
	unsigned char *memory;
	size_t size;
	bool has_headers;
	enum target_kind kind;
	const char *path; /* its only part */
};

unsigned char *pool_memory(const struct pool *pool)
{
	return pool->memory;
}

size_t pool_size(const struct pool *pool)
{
	return pool->size;
}

bool pool_has_headers(const struct pool *pool)
{
	return pool->has_headers;
}

enum target_kind pool_kind(const struct pool *pool)
{
	return pool->kind;
}

bool pool_is_pmem(const struct pool *pool)
{
	return pool->kind != TARGET_FILE;
}

size_t pool_parts(const struct pool *pool)
{
	return pool->path != NULL;
}

const char *pool_part_path(const struct pool *pool, size_t part)
{
	return part == 0 ? pool->path : NULL;
}
