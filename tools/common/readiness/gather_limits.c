/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_limits.c -- what this process may lock and open.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

#define CAP_IPC_LOCK_BIT 14

/* A number of a limit, or "unlimited"; -1: neither. */
static int64_t read_limit(const char *text)
{
	char *end;
	long long value;

	text += strspn(text, " ");
	if (strncmp(text, "unlimited", 9) == 0)
		return INT64_MAX;
	value = strtoll(text, &end, 10);
	return end == text || value < 0 ? -1 : value;
}

/* "Max open files            1024                 524288               files" */
static void find_limit(const char *limits, const char *name, int64_t *soft, int64_t *hard)
{
	const char *at = strstr(limits, name);

	*soft = *hard = -1;
	if (at == NULL || (at != limits && at[-1] != '\n'))
		return;
	at += strlen(name);
	*soft = read_limit(at);
	at += strspn(at, " ");
	at += strcspn(at, " \n");
	*hard = read_limit(at);
}

/* The kernel asks for the capability of the first user namespace, not of a container's. */
static bool in_own_namespace(const struct sysroot *root)
{
	char line[128];
	unsigned long inside, outside, count;

	if (!sysroot_line(root, line, sizeof(line), "proc/self/uid_map"))
		return false;
	return sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
	       (inside != 0 || outside != 0 || count != UINT32_MAX);
}

static enum known may_lock(const struct sysroot *root)
{
	static char status[1 << 14];
	const char *at;
	uint64_t effective;

	if (sysroot_read(root, status, sizeof(status), "proc/self/status") <= 0 ||
	    (at = strstr(status, "\nCapEff:\t")) == NULL ||
	    sscanf(at, "\nCapEff:\t%" SCNx64, &effective) != 1)
		return KNOWN_NOT;
	if ((effective >> CAP_IPC_LOCK_BIT & 1) == 0 || in_own_namespace(root))
		return KNOWN_NO;
	return KNOWN_YES;
}

void gather_limits(const struct gather *g, struct facts_limits *facts)
{
	char limits[4096] = "";
	int64_t hard;

	sysroot_read(g->root, limits, sizeof(limits), "proc/self/limits");
	find_limit(limits, "Max locked memory", &facts->memlock_bytes, &hard);
	/* the tools raise the soft limit of files, not of memory */
	find_limit(limits, "Max open files", &hard, &facts->open_files);
	facts->may_lock = may_lock(g->root);
}
