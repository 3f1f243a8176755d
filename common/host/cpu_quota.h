/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_quota.h -- the CPU quota of the control groups that this process is in, and how
 * often the kernel stopped them for having used it up.
 *
 * Containers have one. Its stops look like those of a busy host, but no other program
 * took the time: the threads may not run until the next period (100 ms by default).
 */
#ifndef COMMON_HOST_CPU_QUOTA_H
#define COMMON_HOST_CPU_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "sysroot.h"

struct cpu_quota {
	bool known;  /* the groups could be read */
	double cpus; /* what the tightest group may use; 0: no group has a quota */
	/* sums over all groups with a quota, since they exist */
	uint64_t periods;
	uint64_t throttled_periods;
	uint64_t throttled_ns;
};

/* Version 1 or 2, whichever has the CPU controller, from the process's group upwards. */
void cpu_quota_read(const struct sysroot *root, struct cpu_quota *now);

/* Makes *now the difference to before; unknown if one of them is, or the groups changed. */
void cpu_quota_since(struct cpu_quota *now, const struct cpu_quota *before);

#endif /* COMMON_HOST_CPU_QUOTA_H */
