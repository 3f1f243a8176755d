/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_limits.c -- what this process may lock and open.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host/memlock.h"
#include "gather_pmem.h"

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

/* "Uid:\t0\t0\t0\t0": the effective one is the second. */
static bool is_root(const struct sysroot *root)
{
	char status[1 << 14];
	const char *at;
	char *end;

	if (sysroot_read(root, status, sizeof(status), "proc/self/status") <= 0 ||
	    (at = strstr(status, "\nUid:\t")) == NULL)
		return false;
	(void)strtoul(at + strlen("\nUid:\t"), &end, 10);
	return strtoul(end, NULL, 10) == 0;
}

/* By what their runtimes put there; a cgroup namespace hides the path from the process. */
static enum facts_container find_container(const struct sysroot *root)
{
	char cgroup[4096] = "";

	sysroot_read(root, cgroup, sizeof(cgroup), "proc/self/cgroup");
	if (strstr(cgroup, "kubepods") != NULL ||
	    sysroot_exists(root, "var/run/secrets/kubernetes.io") ||
	    sysroot_exists(root, "run/secrets/kubernetes.io"))
		return CONTAINER_POD;
	if (sysroot_exists(root, ".dockerenv") || sysroot_exists(root, "run/.containerenv") ||
	    strstr(cgroup, "/docker") != NULL || strstr(cgroup, "/libpod") != NULL)
		return CONTAINER_OTHER;
	return CONTAINER_NONE;
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
	facts->container = find_container(g->root);
	facts->root = is_root(g->root);
	exempt = memlock_exempt(g->root);
	facts->may_lock = exempt < 0 ? KNOWN_NOT : exempt > 0 ? KNOWN_YES : KNOWN_NO;
}
