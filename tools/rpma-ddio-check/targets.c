/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * targets.c -- reads /sys/bus/dax/devices, /sys/block and the mounts.
 */
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAX	    "sys/bus/dax/devices"
#define BLOCK	    "sys/block"
#define MOUNTS	    "proc/self/mountinfo"
#define MOUNTS_MAX  (1 << 20)
#define ENTRIES_MAX 4096

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void add(struct targets *targets, const char *path)
{
	if (targets->count == TARGETS_MAX)
		targets->cut = true;
	else
		snprintf(targets->paths[targets->count++], FACTS_PATH_MAX, "%s", path);
}

/* It belongs to a region of persistent memory, not to memory that is set aside (hmem). */
static bool is_persistent(const struct sysroot *root, const char *name)
{
	char link[FACTS_PATH_MAX], real[PATH_MAX];

	snprintf(link, sizeof(link), DAX "/%.63s", name);
	return sysroot_real_path(root, link, real) && strstr(real, "/ndbus") != NULL;
}

/* "259:0" in the third field: the fifth is where it is mounted. */
static bool mount_of(const char *mounts, const char *number, char path[FACTS_PATH_MAX])
{
	char device[32], mounted_on[FACTS_PATH_MAX];

	for (const char *line = mounts; line != NULL && *line != '\0';
	     line = strchr(line, '\n'), line += line != NULL) {
		if (sscanf(line, "%*s %*s %31s %*s %255s", device, mounted_on) == 2 &&
		    strcmp(device, number) == 0) {
			snprintf(path, FACTS_PATH_MAX, "%s", mounted_on);
			return true;
		}
	}
	return false;
}

static void add_block(const struct sysroot *root, const char *mounts, const char *name,
		      struct targets *targets)
{
	char number[32], path[FACTS_PATH_MAX];

	snprintf(path, sizeof(path), "/dev/%.63s", name);
	if (mounts != NULL && sysroot_line(root, number, sizeof(number), BLOCK "/%.63s/dev", name))
		mount_of(mounts, number, path);
	add(targets, path);
}

static void find_in(const struct sysroot *root, const char *directory, const char *mounts,
		    struct targets *targets)
{
	DIR *entries = sysroot_directory(root, directory);
	const struct dirent *entry;

	for (int i = 0; entries != NULL && (entry = readdir(entries)) != NULL; i++) {
		const char *name = entry->d_name;
		char path[FACTS_PATH_MAX];

		if (i == ENTRIES_MAX) {
			targets->cut = true;
			break;
		}
		snprintf(path, sizeof(path), "/dev/%.63s", name);
		if (strcmp(directory, BLOCK) == 0 && strncmp(name, "pmem", 4) == 0)
			add_block(root, mounts, name, targets);
		else if (strcmp(directory, DAX) == 0 && strncmp(name, "dax", 3) == 0 &&
			 is_persistent(root, name))
			add(targets, path);
	}
	if (entries != NULL)
		closedir(entries);
}

void targets_find(const struct sysroot *root, struct targets *targets)
{
	char *mounts = malloc(MOUNTS_MAX);

	memset(targets, 0, sizeof(*targets));
	if (mounts != NULL && sysroot_read(root, mounts, MOUNTS_MAX, MOUNTS) < 0)
		mounts[0] = '\0';
	find_in(root, DAX, mounts, targets);
	find_in(root, BLOCK, mounts, targets);
	qsort(targets->paths, targets->count, sizeof(targets->paths[0]), by_path);
	free(mounts);
}
