/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_memory.c -- looks at a pool before it is registered: a device refuses memory
 * that is not mapped with an errno alone, and TCP would only fail in the first read.
 */
#include "local_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/common/base/failure.h"

static int refuse(int error, uintptr_t at, const char *what)
{
	failure_set(EXIT_WRONG_USAGE, "pool",
		    "pool_addr: the memory at 0x%" PRIxPTR " is %s: expected pool_size bytes that "
		    "may be read and written",
		    at, what);
	return -error;
}

/* Mappings come in order of their address. */
static int walk(FILE *maps, uintptr_t at, uintptr_t end)
{
	uintptr_t low, high;
	char rights[5];

	while (at < end) {
		int got = fscanf(maps, "%" SCNxPTR "-%" SCNxPTR " %4s%*[^\n]", &low, &high, rights);

		if (got != 3 || low > at)
			return refuse(EFAULT, at, "not mapped");
		if (high <= at)
			continue;
		if (rights[0] != 'r' || rights[1] != 'w')
			return refuse(EACCES, at, "mapped read-only");
		at = high;
	}
	return 0;
}

int local_memory_check(const void *memory, size_t bytes)
{
	const uintptr_t begin = (uintptr_t)memory;
	FILE *maps;
	int ret;

	if (begin + bytes < begin)
		return refuse(EFAULT, begin, "at the end of the address space");
	maps = fopen("/proc/self/maps", "re");
	if (maps == NULL)
		return 0;
	ret = walk(maps, begin, begin + bytes);
	fclose(maps);
	return ret;
}
