/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_disk.c -- block devices of persistent memory, and those that the
 * device mapper makes of them. For gather_target.c.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "gather_pmem.h"

#define DEPTH_MAX 4  /* how deep device mapper may be stacked */
#define DISKS_MAX 64 /* that a device may be made of in all */

static bool take_number(const char **at, unsigned *value)
{
	uint64_t number;

	if (!gather_number(at, &number) || number >= UINT_MAX)
		return false;
	*value = (unsigned)number;
	return true;
}

bool gather_parse_disk(const char *name, unsigned *region, unsigned *space,
		       char disk[GATHER_NAME_MAX])
{
	const char *at = name + strlen("pmem");

	*space = 0;
	if (strncmp(name, "pmem", 4) != 0 || !take_number(&at, region))
		return false;
	if (*at == '.') {
		at++;
		if (!take_number(&at, space))
			return false;
	}
	at += *at == 's';
	snprintf(disk, GATHER_NAME_MAX, "%.*s", (int)(at - name), name);
	if (*at == 'p' && at[1] != '\0')
		at += 1 + strspn(at + 1, "0123456789");
	return *at == '\0';
}

static enum backing add_pmem(const struct gather *g, const char *disk, unsigned region,
			     unsigned space, struct facts_target *facts)
{
	char path[128];
	enum backing backing;
	int64_t bad;

	snprintf(path, sizeof(path), "sys/block/%s", disk);
	backing = gather_backing(g->root, path, facts);
	if (backing != BACKING_PMEM) {
		snprintf(path, sizeof(path), "sys/block/%s/device", disk);
		backing = gather_backing(g->root, path, facts);
	}
	if (backing == BACKING_UNKNOWN)
		backing = gather_numbered(g->root, region, space, facts);
	/* others that it is joined with must not speak for it */
	facts->cut = facts->cut || backing == BACKING_UNKNOWN;
	snprintf(path, sizeof(path), "sys/block/%s/badblocks", disk);
	bad = gather_bad_blocks(g->root, path, 0, INT64_MAX);
	if (bad < 0)
		facts->badblocks_cut = true;
	else
		facts->badblocks = (facts->badblocks > 0 ? facts->badblocks : 0) + bad;
	return backing;
}

static bool add_disk(const struct gather *g, const char *name, int depth, size_t *seen,
		     struct facts_target *facts);

/* Made of others by the device mapper: PMem where all of them are. */
static bool add_slaves(const struct gather *g, const char *name, int depth, size_t *seen,
		       struct facts_target *facts)
{
	char path[128];
	DIR *slaves;
	const struct dirent *entry;
	bool all = true;
	const size_t before = *seen;

	snprintf(path, sizeof(path), "sys/block/%.63s/slaves", name);
	slaves = sysroot_directory(g->root, path);
	while (slaves != NULL && all && (entry = readdir(slaves)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		all = ++*seen <= DISKS_MAX && strlen(entry->d_name) < GATHER_NAME_MAX &&
		      add_disk(g, entry->d_name, depth + 1, seen, facts);
	}
	if (slaves != NULL)
		closedir(slaves);
	return all && *seen > before;
}

static bool add_disk(const struct gather *g, const char *name, int depth, size_t *seen,
		     struct facts_target *facts)
{
	char disk[GATHER_NAME_MAX];
	unsigned region, space;

	if (gather_parse_disk(name, &region, &space, disk))
		return add_pmem(g, disk, region, space, facts) != BACKING_OTHER;
	return depth < DEPTH_MAX && add_slaves(g, name, depth, seen, facts);
}

static enum known known_flag(const struct sysroot *root, const char *disk)
{
	int64_t value;

	if (!sysroot_number(root, &value, "sys/block/%s/queue/dax", disk))
		return KNOWN_NOT;
	return value != 0 ? KNOWN_YES : KNOWN_NO;
}

bool gather_disk(const struct gather *g, const char *name, struct facts_target *facts)
{
	char disk[GATHER_NAME_MAX];
	unsigned region, space;
	size_t seen = 0;

	snprintf(facts->device, sizeof(facts->device), "%s", name);
	if (!gather_parse_disk(name, &region, &space, disk))
		snprintf(disk, sizeof(disk), "%s", name);
	facts->dax_queue = known_flag(g->root, disk);
	return add_disk(g, name, 0, &seen, facts);
}
