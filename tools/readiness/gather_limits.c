/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_limits.c -- what this process may lock and open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"

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
	const char *at = line;
	uint64_t values[3];

	if (!sysroot_line(root, line, sizeof(line), "proc/self/uid_map"))
		return false;
	for (size_t i = 0; i < 3; i++) {
		at += strspn(at, " ");
		if (!gather_number(&at, &values[i]))
			return false;
	}
	return values[0] != 0 || values[1] != 0 || values[2] != UINT32_MAX;
}

static enum known may_lock(const struct sysroot *root)
{
	char status[1 << 14];
	static const char key[] = "\nCapEff:\t";
	const char *at;
	char *end;
	uint64_t effective;

	if (sysroot_read(root, status, sizeof(status), "proc/self/status") <= 0 ||
	    (at = strstr(status, key)) == NULL)
		return KNOWN_NOT;
	at += strlen(key);
	effective = strtoull(at, &end, 16);
	if (end == at)
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
