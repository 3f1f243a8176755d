/* SPDX-License-Identifier: BSD-3-Clause */
/* rlimits.c -- how many files this process may open, and how much memory it may pin for RDMA. */
#include "rlimits.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/failure.h"

#define CAP_IPC_LOCK_BIT 14

/* The kernel asks for the capability of the first user namespace, not of a container's. */
static bool in_own_namespace(const struct sysroot *root)
{
	unsigned long first, outside, count;
	char line[128], *at;

	if (!sysroot_text(root, line, "proc/self/uid_map"))
		return false;
	first = strtoul(line, &at, 10);
	outside = strtoul(at, &at, 10);
	count = strtoul(at, &at, 10);
	return count > 0 && (first != 0 || outside != 0 || count != UINT32_MAX);
}

int memlock_exempt(const struct sysroot *root)
{
	char text[32], *end;
	uint64_t effective;

	if (!sysroot_file_field(root, "proc/self/status", "CapEff", text, sizeof(text)))
		return -1;
	effective = strtoull(text, &end, 16);
	if (end == text)
		return -1;
	return (effective >> CAP_IPC_LOCK_BIT & 1) != 0 && !in_own_namespace(root);
}

uint64_t memlock_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return memlock_exempt(&sysroot_machine) == 0 ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

const char *memlock_print_limit(char text[UNITS_TEXT_BYTES])
{
	const uint64_t limit = memlock_limit();

	if (limit != UINT64_MAX)
		return units_print_size(limit, text);
	snprintf(text, UNITS_TEXT_BYTES, "any amount");
	return text;
}

/* Opened for a moment: what is read of /proc and /sys, a connection that is being made. */
#define MOMENTARY 8
/* The limit that is told is to do for a server and a client beside each other, whichever asks. */
#define SPARE 32

void open_files_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

size_t open_files_count(void)
{
	DIR *open_now = opendir("/proc/self/fd");
	size_t count = 0;

	if (open_now == NULL)
		return 0;
	for (const struct dirent *e; (e = readdir(open_now)) != NULL;)
		count += e->d_name[0] != '.';
	closedir(open_now);
	return count - 1; /* the directory's own */
}

size_t open_files_left(size_t spare)
{
	const size_t taken = open_files_count() + spare;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	return limit.rlim_cur > taken ? limit.rlim_cur - taken : 0;
}

int open_files_check(const char *what, size_t before, size_t all)
{
	/* one may be on its way out */
	size_t now = open_files_count(), taken = now > before ? now - before + 1 : 0;
	size_t needed = now + (all - OPEN_FILES_SAMPLE) * (taken / OPEN_FILES_SAMPLE) + MOMENTARY;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || needed <= limit.rlim_cur)
		return 0;
	needed += SPARE;
	return failure_set(EXIT_RUN_FAILED, "connect",
			   "%s: %zu open files are needed, and this process may have %llu: raise "
			   "the limit (ulimit -n %zu)",
			   what, needed, (unsigned long long)limit.rlim_cur, needed);
}
