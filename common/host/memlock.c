/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memlock.c -- how much memory this process may pin for RDMA.
 */
#include "memlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define CAP_IPC_LOCK_BIT 14

/* The kernel asks for the capability of the first user namespace, not of a container's. */
static bool in_own_namespace(const struct sysroot *root)
{
	unsigned long first, outside, count;
	char line[128], *at;

	if (!sysroot_line(root, line, sizeof(line), "proc/self/uid_map"))
		return false;
	first = strtoul(line, &at, 10);
	outside = strtoul(at, &at, 10);
	count = strtoul(at, &at, 10);
	return count > 0 && (first != 0 || outside != 0 || count != UINT32_MAX);
}

int memlock_exempt(const struct sysroot *root)
{
	char status[1 << 14];
	static const char key[] = "\nCapEff:\t";
	const char *at;
	char *end;
	uint64_t effective;

	if (sysroot_read(root, status, sizeof(status), "proc/self/status") <= 0 ||
	    (at = strstr(status, key)) == NULL)
		return -1;
	at += strlen(key);
	effective = strtoull(at, &end, 16);
	if (end == at)
		return -1;
	return (effective >> CAP_IPC_LOCK_BIT & 1) != 0 && !in_own_namespace(root);
}

uint64_t memlock_limit(void)
{
	struct rlimit limit;
	struct sysroot root;
	int exempt;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	    sysroot_open(&root, "/") != 0)
		return UINT64_MAX;
	exempt = memlock_exempt(&root);
	sysroot_close(&root);
	return exempt == 0 ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

const char *memlock_print_limit(char text[UNITS_TEXT_BYTES])
{
	const uint64_t limit = memlock_limit();

	if (limit != UINT64_MAX)
		return units_print_size(limit, text);
	snprintf(text, UNITS_TEXT_BYTES, "any amount");
	return text;
}
