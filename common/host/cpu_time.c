/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_time.c -- sums the lines of /proc/stat that belong to the allowed CPUs.
 */
#include "cpu_time.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/thread.h"

/* The lines of 1024 CPUs; what follows them (interrupts) is not needed. */
#define STAT_BYTES (256 * 1024)
#define NS_PER_S   1000000000ULL

/* The columns of proc_stat(5); guest time is part of user time. */
enum column { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };

static uint64_t tick_ns(void)
{
	long per_s = sysconf(_SC_CLK_TCK);

	return NS_PER_S / (uint64_t)(per_s > 0 ? per_s : 100);
}

void cpu_time_allowed(cpu_set_t *allowed)
{
	CPU_ZERO(allowed);
	/* the whole process, even from a pinned thread */
	if (sched_getaffinity(getpid(), sizeof(*allowed), allowed) != 0)
		CPU_ZERO(allowed);
}

/* Adds ",4-7"; a list that does not fit is empty. */
static void add_range(char list[CPU_TIME_LIST], unsigned first, unsigned last)
{
	size_t used = strlen(list);
	const char *comma = used > 0 ? "," : "";
	int more = first == last ? snprintf(list + used, CPU_TIME_LIST - used, "%s%u", comma, first)
				 : snprintf(list + used, CPU_TIME_LIST - used, "%s%u-%u", comma,
					    first, last);

	if (more < 0 || (size_t)more >= CPU_TIME_LIST - used)
		list[0] = '\0';
}

static void print_list(const cpu_set_t *cpus, char list[CPU_TIME_LIST])
{
	list[0] = '\0';
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		unsigned first = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, cpus))
			cpu++;
		add_range(list, first, cpu);
		if (list[0] == '\0')
			return;
	}
}

static bool read_columns(const char *at, uint64_t columns[COLUMNS])
{
	int count = 0;
	char *end;

	memset(columns, 0, COLUMNS * sizeof(*columns));
	for (; count < COLUMNS && *at == ' '; at = end) {
		columns[count] = strtoull(at, &end, 10);
		if (end == at)
			break;
		count++;
	}
	/* the oldest kernels have four */
	return count > IDLE;
}

static void add_cpu(struct cpu_time *now, const uint64_t columns[COLUMNS])
{
	uint64_t tick = tick_ns();

	for (int i = 0; i < COLUMNS; i++) {
		now->all_ns += columns[i] * tick;
		if (i != IDLE && i != IOWAIT && i != STEAL)
			now->busy_ns += columns[i] * tick;
	}
	now->steal_ns += columns[STEAL] * tick;
	now->cpus++;
}

/* "cpu3 4705 356 584 3699 23 23 0 0 0 0" of each allowed CPU. */
static void sum_lines(const char *stat, const cpu_set_t *allowed, struct cpu_time *now)
{
	uint64_t columns[COLUMNS];
	cpu_set_t found;

	CPU_ZERO(&found);
	for (const char *line = stat; line != NULL && strncmp(line, "cpu", 3) == 0;) {
		char *end = NULL;
		unsigned long cpu =
			isdigit((unsigned char)line[3]) ? strtoul(line + 3, &end, 10) : CPU_SETSIZE;

		if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, allowed) && read_columns(end, columns)) {
			add_cpu(now, columns);
			CPU_SET(cpu, &found);
		}
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	print_list(&found, now->list);
	now->known = now->cpus > 0;
}

void cpu_time_read(const struct sysroot *root, const cpu_set_t *allowed, struct cpu_time *now)
{
	char *stat = malloc(STAT_BYTES);
	struct rusage own;

	*now = (struct cpu_time){0};
	if (stat != NULL && sysroot_read(root, stat, STAT_BYTES, "proc/stat") > 0)
		sum_lines(stat, allowed, now);
	free(stat);
	now->wall_ns = clock_raw_ns();
	getrusage(RUSAGE_SELF, &own);
	now->own_ns = thread_time_ns(own.ru_utime) + thread_time_ns(own.ru_stime);
}

/* Some sandboxes show a file that never changes: each CPU must account for half the time at least.
 */
static bool kept_up(const struct cpu_time *span)
{
	uint64_t wall_ns = span->wall_ns * span->cpus, slack_ns = 2 * tick_ns() * span->cpus;

	return span->all_ns + slack_ns >= wall_ns / 2 && span->all_ns <= 2 * wall_ns + slack_ns;
}

void cpu_time_since(struct cpu_time *now, const struct cpu_time *before)
{
	bool known = now->known && before->known && now->cpus == before->cpus &&
		     strcmp(now->list, before->list) == 0 && now->busy_ns >= before->busy_ns &&
		     now->steal_ns >= before->steal_ns;

	now->wall_ns -= before->wall_ns;
	now->own_ns -= before->own_ns;
	now->busy_ns -= before->busy_ns;
	now->steal_ns -= before->steal_ns;
	/* idle time may go back a little */
	now->all_ns = now->all_ns > before->all_ns ? now->all_ns - before->all_ns : 0;
	now->known = known && kept_up(now);
}

void cpu_time_boot_id(const struct sysroot *root, char id[CPU_TIME_BOOT_ID])
{
	if (!sysroot_line(root, id, CPU_TIME_BOOT_ID, "proc/sys/kernel/random/boot_id"))
		id[0] = '\0';
}
