/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * open_files.c -- the limit of open files, raised and told.
 */
#include "open_files.h"

#include <dirent.h>
#include <sys/resource.h>

#include "common/base/failure.h"

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
