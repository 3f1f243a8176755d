/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_limits.c -- what this process may lock and open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"
#include "tools/common/host/memlock.h"

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

void gather_limits(const struct gather *g, struct facts_limits *facts)
{
	char limits[4096] = "";
	int64_t hard;
	int exempt;

	sysroot_read(g->root, limits, sizeof(limits), "proc/self/limits");
	find_limit(limits, "Max locked memory", &facts->memlock_bytes, &hard);
	/* the tools raise the soft limit of files, not of memory */
	find_limit(limits, "Max open files", &hard, &facts->open_files);
	exempt = memlock_exempt(g->root);
	facts->may_lock = exempt < 0 ? KNOWN_NOT : exempt > 0 ? KNOWN_YES : KNOWN_NO;
}
