/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_backing.c -- which region and namespace a device is made of. For
 * gather_target.c.
 *
 * The path of a device in sysfs shows it: .../ndbus0/region0/pfn0.1/block/pmem0,
 * where pfn0.1 names its namespace. CXL and the kernel's own regions of DAX
 * memory look alike and are not persistent, so a region counts only below a
 * bus of libnvdimm.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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
	struct sysroot_walk slaves = sysroot_walk(g->root, SIZE_MAX, "sys/block/%s/slaves", name);
	const size_t before = *seen;
	const char *slave;
	bool all = true;

	while (all && (slave = sysroot_next(&slaves)) != NULL)
		all = ++*seen <= DISKS_MAX && strlen(slave) < GATHER_NAME_MAX &&
		      add_disk(g, slave, depth + 1, seen, facts);
	sysroot_walk_end(&slaves);
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

static bool read_numbers(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && name[len] != '\0' &&
	       name[len + strspn(name + len, "0123456789.")] == '\0';
}

/* The region at this place of the path is the one that libnvdimm lists. */
static bool is_listed(const struct sysroot *root, const char *region, const char *path)
{
	char real[PATH_MAX];

	return sysroot_exists(root, ND_DEVICES "/%s", region) &&
	       sysroot_real_path(root, real, ND_DEVICES "/%s", region) && strcmp(real, path) == 0;
}

/* The device that claims a namespace has its number: pfn0.1, dax0.1, btt0.1. */
static void add_namespace(const struct sysroot *root, const char *path, const char *name,
			  struct facts_target *facts)
{
	char space[GATHER_NAME_MAX];

	if (read_numbers(name, "namespace"))
		gather_namespace(root, name, facts);
	else if (sysroot_text(root, space, "%s/namespace", path) &&
		 read_numbers(space, "namespace"))
		gather_namespace(root, space, facts);
	else
		facts->cut = true;
}

enum backing gather_backing(const struct sysroot *root, const char *directory,
			    struct facts_target *facts)
{
	char real[PATH_MAX], path[PATH_MAX] = "", *rest, *name;
	enum backing backing = BACKING_OTHER;
	bool below_bus = false;

	if (!sysroot_exists(root, "%s", directory) ||
	    !sysroot_real_path(root, real, "%s", directory))
		return BACKING_UNKNOWN;
	if (strncmp(real, "sys/devices/", 12) != 0)
		backing = BACKING_UNKNOWN; /* not in a real sysfs: its place is meaningless */
	for (name = strtok_r(real, "/", &rest); name != NULL; name = strtok_r(NULL, "/", &rest)) {
		size_t len = strlen(path);

		snprintf(path + len, sizeof(path) - len, "%s%s", len > 0 ? "/" : "", name);
		if (backing == BACKING_PMEM) {
			add_namespace(root, path, name, facts);
			break;
		}
		below_bus = below_bus || read_numbers(name, "ndbus");
		if (read_numbers(name, "region") && strlen(name) < GATHER_NAME_MAX &&
		    (below_bus || is_listed(root, name, path)) && gather_region(root, name, facts))
			backing = BACKING_PMEM;
	}
	return backing;
}

enum backing gather_numbered(const struct sysroot *root, unsigned region, unsigned space,
			     struct facts_target *facts)
{
	char names[FACTS_NAMESPACES_MAX][GATHER_NAME_MAX], name[GATHER_NAME_MAX];
	size_t count;

	snprintf(name, sizeof(name), "region%u", region);
	if (!sysroot_exists(root, ND_DEVICES "/%s", name))
		return BACKING_UNKNOWN;
	if (!gather_region(root, name, facts))
		return BACKING_OTHER;
	snprintf(name, sizeof(name), "namespace%u.%u", region, space);
	if (space != UINT_MAX && sysroot_exists(root, ND_DEVICES "/%s", name)) {
		gather_namespace(root, name, facts);
		return BACKING_PMEM;
	}
	snprintf(name, sizeof(name), "namespace%u.", region);
	count = gather_names(root, ND_DEVICES, name, names, FACTS_NAMESPACES_MAX);
	facts->cut = facts->cut || count > FACTS_NAMESPACES_MAX;
	for (size_t i = 0; i < count && i < FACTS_NAMESPACES_MAX; i++) {
		int64_t size;

		/* libnvdimm keeps an empty one ready to be made use of */
		if (!sysroot_number(root, &size, ND_DEVICES "/%s/size", names[i]) || size != 0)
			gather_namespace(root, names[i], facts);
	}
	return BACKING_PMEM;
}
