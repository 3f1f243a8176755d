/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpmem_pool.c -- calls that have to work.
 */
#include "rpmem_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TARGET "127.0.0.1"

_Noreturn void pool_fail(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", what, strerrorname_np(errno), rpmem_errormsg());
	exit(2);
}

size_t pool_number(const char *text)
{
	char *end;
	size_t number = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0') {
		errno = EINVAL;
		pool_fail(text);
	}
	return number;
}

struct pool pool_connect(const char *set, size_t bytes, unsigned nlanes, bool create)
{
	struct pool p = {.bytes = bytes, .nlanes = nlanes};

	p.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p.memory == MAP_FAILED)
		pool_fail("mmap");
	memset(p.memory, 0x5a, bytes);
	if (!create)
		pool_reconnect(&p, set);
	else if ((p.rpp = rpmem_create(TARGET, set, p.memory, bytes, &p.nlanes, NULL)) == NULL)
		pool_fail("rpmem_create");
	return p;
}

void pool_reconnect(struct pool *pool, const char *set)
{
	pool->rpp = rpmem_open(TARGET, set, pool->memory, pool->bytes, &pool->nlanes, NULL);
	if (pool->rpp == NULL)
		pool_fail("rpmem_open");
}

void pool_disconnect(struct pool *pool)
{
	if (rpmem_close(pool->rpp) != 0)
		pool_fail("rpmem_close");
	pool->rpp = NULL;
}

void pool_persist(const struct pool *pool, size_t offset, size_t length, unsigned lane,
		  unsigned flags)
{
	if (rpmem_persist(pool->rpp, offset, length, lane, flags) != 0)
		pool_fail("rpmem_persist");
}
