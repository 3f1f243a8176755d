/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_time.h -- processor time on the CPUs this process may use: all of it,
 * and how much of it was this process's own.
 *
 * Read before and after a measurement, it shows what other programs took
 * meanwhile. The kernel counts in clock ticks (10 ms on Linux), so the
 * difference is exact to a few ticks for each CPU.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "sysroot.h"

/*
 * The CPU quota of the control groups that this process is in, and how often the kernel stopped
 * them for having used it up. Its stops look like those of a busy host, but no other program
 * took the time: the threads may not run until the next period (100 ms by default).
 */
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

#define CPU_TIME_LIST	 256
#define CPU_TIME_BOOT_ID 40

struct cpu_time {
	bool known;
	unsigned cpus;		  /* allowed CPUs that are online */
	char list[CPU_TIME_LIST]; /* which: "0-3,8"; empty: too long a list */
	uint64_t wall_ns;
	uint64_t all_ns;   /* all states of these CPUs, idle included */
	uint64_t busy_ns;  /* all processes and interrupts */
	uint64_t steal_ns; /* the hypervisor ran something else */
	uint64_t own_ns;   /* this process */
};

/* The CPUs that the main thread may use; empty where the kernel does not say. */
void cpu_time_allowed(cpu_set_t *allowed);

void cpu_time_read(const struct sysroot *root, const cpu_set_t *allowed, struct cpu_time *now);

/* Makes *now the difference to before; unknown where the counters lagged behind the clock. */
void cpu_time_since(struct cpu_time *now, const struct cpu_time *before);

/* Tells whether two processes run under one kernel. Empty: unknown. */
void cpu_time_boot_id(const struct sysroot *root, char id[CPU_TIME_BOOT_ID]);
