/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_memory.c -- looks at a pool before it is registered: a device refuses memory
 * that is not mapped with an errno alone, and TCP would only fail in the first read.
 */
#include "local_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"

static int refuse(int error, uintptr_t at, const char *what)
{
	failure_set(EXIT_WRONG_USAGE, "pool",
		    "pool_addr: the memory at 0x%" PRIxPTR " is %s: expected pool_size bytes that "
		    "may be read and written",
		    at, what);
	return -error;
}

struct mapping {
	uintptr_t low;
	uintptr_t high;
	const char *rights; /* "rw-p" */
};

/* "7f0000000000-7f0000001000 rw-p ..." */
static bool parse(char *line, struct mapping *mapping)
{
	char *at;

	mapping->low = strtoul(line, &at, 16);
	if (*at != '-')
		return false;
	mapping->high = strtoul(at + 1, &at, 16);
	mapping->rights = at + 1;
	return *at == ' ' && strlen(at) > 4;
}

/* Mappings come in order of their address. */
static int walk(FILE *maps, uintptr_t at, uintptr_t end)
{
	struct mapping m;
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	while (ret == 0 && at < end) {
		if (getline(&line, &room, maps) <= 0 || !parse(line, &m) || m.low > at)
			ret = refuse(EFAULT, at, "not mapped");
		else if (m.high > at && (m.rights[0] != 'r' || m.rights[1] != 'w'))
			ret = refuse(EACCES, at, "mapped read-only");
		else if (m.high > at)
			at = m.high;
	}
	free(line);
	return ret;
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
