/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu_quota.c -- reads what Linux's Documentation/admin-guide/cgroup-v2.rst (cpu.max,
 * cpu.stat) and cgroup-v1 with scheduler/sched-bwc.rst describe.
 *
 * A process without a namespace of its own sees the path of its group from the root of
 * the host, and a container may have only its part of the tree: a folder that is not
 * there is passed over, on the way up to the root of the mount.
 */
#include "cpu_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP_BYTES 8192
#define STAT_BYTES   4096

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
	} else if (!sysroot_line(root, line, sizeof(line), "%s%s/cpu.max", group->mount,
				 group->path) ||
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
	stat = malloc(STAT_BYTES);
	if (stat == NULL || sysroot_read(root, stat, STAT_BYTES, path) <= 0) {
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
