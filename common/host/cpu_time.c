/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_time.c -- sums the lines of /proc/stat that belong to the allowed CPUs. */
#include "cpu_time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "common/base/thread.h"

/*
 * Reads what Linux's Documentation/admin-guide/cgroup-v2.rst (cpu.max,
 * cpu.stat) and cgroup-v1 with scheduler/sched-bwc.rst describe.
 *
 * A process without a namespace of its own sees the path of its group from the root of
 * the host, and a container may have only its part of the tree: a folder that is not
 * there is passed over, on the way up to the root of the mount.
 */

#define CGROUP_BYTES 8192
#define QUOTA_BYTES  4096

enum version { V1, V2 };

struct group {
	enum version version;
	char mount[64];
	char path[PATH_MAX]; /* "/a/b"; empty: the root */
};

/* Is one of the controllers "cpu,cpuacct" the CPU's? */
static bool has_cpu(const char *controllers, size_t length)
{
	for (const char *at = controllers, *end = controllers + length; at < end; at++) {
		size_t word = strcspn(at, ",:");

		if (word == 3 && strncmp(at, "cpu", 3) == 0)
			return true;
		at += word;
	}
	return false;
}

static void set_path(struct group *group, const char *path)
{
	size_t length = strcspn(path, "\n");

	if (length == 1 || length >= sizeof(group->path))
		length = 0;
	memcpy(group->path, path, length);
	group->path[length] = '\0';
}

/* A line "4:cpu,cpuacct:/a/b" of version 1, or "0::/a/b" of version 2. */
static bool take_line(const struct sysroot *root, const char *line, struct group *group)
{
	const char *controllers = strchr(line, ':'), *path;
	size_t length;

	path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (path == NULL || path[1] != '/')
		return false;
	length = (size_t)(path - ++controllers);
	if (length > 0 && has_cpu(controllers, length)) {
		*group = (struct group){.version = V1};
		snprintf(group->mount, sizeof(group->mount), "sys/fs/cgroup/%.*s", (int)length,
			 controllers);
		if (!sysroot_exists(root, "%s", group->mount))
			snprintf(group->mount, sizeof(group->mount), "sys/fs/cgroup/cpu");
	} else if (length == 0 && group->mount[0] == '\0') {
		*group = (struct group){.version = V2, .mount = "sys/fs/cgroup"};
	} else {
		return false;
	}
	set_path(group, path + 1);
	return true;
}

/* The one of version 1 if there is one: a controller is in one version only. */
static bool find_group(const struct sysroot *root, struct group *group)
{
	char *text = malloc(CGROUP_BYTES);
	const char *line = text;

	*group = (struct group){.mount = ""};
	if (text == NULL || sysroot_read(root, text, CGROUP_BYTES, "proc/self/cgroup") <= 0)
		line = NULL;
	while (line != NULL && *line != '\0') {
		take_line(root, line, group);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	free(text);
	return group->mount[0] != '\0' && sysroot_exists(root, "%s", group->mount);
}

/* The value behind a key of cpu.stat; 0 if it has none. */
static uint64_t stat_of(const char *stat, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = stat; line != NULL && *line != '\0';) {
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return 0;
}

static bool two_numbers(const char *line, int64_t *first, int64_t *second)
{
	char *end, *end_of_second;

	*first = strtoll(line, &end, 10);
	*second = strtoll(end, &end_of_second, 10);
	return end != line && end_of_second != end;
}

/* The CPUs that a group may use; 0: it has no quota. */
static double quota_of(const struct sysroot *root, const struct group *group)
{
	int64_t quota_us = 0, period_us = 0;
	char line[64];

	if (group->version == V1) {
		if (!sysroot_number(root, &quota_us, "%s%s/cpu.cfs_quota_us", group->mount,
				    group->path) ||
		    !sysroot_number(root, &period_us, "%s%s/cpu.cfs_period_us", group->mount,
				    group->path))
			return 0;
	} else if (!sysroot_text(root, line, "%s%s/cpu.max", group->mount, group->path) ||
		   !two_numbers(line, &quota_us, &period_us)) {
		return 0; /* "max 100000" */
	}
	return quota_us > 0 && period_us > 0 ? (double)quota_us / (double)period_us : 0;
}

/* The root group has no such files, and a group without the controller neither. */
static void add_group(const struct sysroot *root, const struct group *group, struct cpu_quota *now)
{
	double cpus = quota_of(root, group);
	char path[sizeof(group->mount) + sizeof(group->path) + 16], *stat;

	if (cpus <= 0)
		return;
	if (now->cpus <= 0 || cpus < now->cpus)
		now->cpus = cpus;
	snprintf(path, sizeof(path), "%s%s/cpu.stat", group->mount, group->path);
	stat = malloc(QUOTA_BYTES);
	if (stat == NULL || sysroot_read(root, stat, QUOTA_BYTES, "%s", path) <= 0) {
		now->known = false;
	} else {
		now->periods += stat_of(stat, "nr_periods");
		now->throttled_periods += stat_of(stat, "nr_throttled");
		now->throttled_ns +=
			stat_of(stat, "throttled_time") + 1000 * stat_of(stat, "throttled_usec");
	}
	free(stat);
}

void cpu_quota_read(const struct sysroot *root, struct cpu_quota *now)
{
	struct group group;
	char *end;

	*now = (struct cpu_quota){.known = find_group(root, &group)};
	while (now->known) {
		add_group(root, &group, now);
		end = strrchr(group.path, '/');
		if (end == NULL)
			break;
		*end = '\0';
	}
}

void cpu_quota_since(struct cpu_quota *now, const struct cpu_quota *before)
{
	now->known = now->known && before->known && now->periods >= before->periods &&
		     now->throttled_periods >= before->throttled_periods &&
		     now->throttled_ns >= before->throttled_ns;
	now->periods -= before->periods;
	now->throttled_periods -= before->throttled_periods;
	now->throttled_ns -= before->throttled_ns;
}

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

/* Some sandboxes show a file that never changes: each CPU must account for half the time. */
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
