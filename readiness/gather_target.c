/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_target.c -- what the memory of --target is made of.
 *
 * From the path to its device: by the numbers that statx gives, else by the
 * name of a device node or the mount it is below, which is all that a tree of
 * files can tell. From the device to regions and namespaces: gather_backing.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/units.h"
#include "common/host/mounts.h"
#include "gather_pmem.h"

#define SECTOR_BYTES 512

/* The name of a device by its numbers; of a partition its own. */
static bool name_of(const struct gather *g, const char *type, unsigned major, unsigned minor,
		    char name[GATHER_NAME_MAX])
{
	char real[PATH_MAX];
	const char *base;

	if (!sysroot_exists(g->root, "sys/dev/%s/%u:%u", type, major, minor) ||
	    !sysroot_real_path(g->root, real, "sys/dev/%s/%u:%u", type, major, minor))
		return false;
	base = strrchr(real, '/');
	snprintf(name, GATHER_NAME_MAX, "%.63s", base != NULL ? base + 1 : real);
	return true;
}

static int64_t dax_number(const struct gather *g, const char *name, const char *attribute)
{
	int64_t value;

	if (!sysroot_number(g->root, &value, "sys/bus/dax/devices/%s/%s", name, attribute) ||
	    value < 0)
		return -1;
	return value;
}

static void take_devdax(const struct gather *g, const char *name, struct facts_target *facts)
{
	char path[128];
	const char *number = name + strlen("dax");
	uint64_t region;
	enum backing backing;

	snprintf(facts->device, sizeof(facts->device), "%s", name);
	snprintf(path, sizeof(path), "sys/bus/dax/devices/%.63s", name);
	facts->size_bytes = dax_number(g, name, "size");
	facts->align_bytes = dax_number(g, name, "align");
	if (!sysroot_link_name(g->root, facts->driver, sizeof(facts->driver), "%s/driver", path) &&
	    sysroot_exists(g->root, "%s", path))
		snprintf(facts->driver, sizeof(facts->driver), "none");
	backing = gather_backing(g->root, path, facts);
	if (backing == BACKING_UNKNOWN && gather_number(&number, &region) && region < UINT_MAX)
		gather_numbered(g->root, (unsigned)region, UINT_MAX, facts);
	facts->shape = backing == BACKING_OTHER ? TARGET_NOT_PMEM : TARGET_ON_DEVDAX;
}

static bool is_devdax(const struct gather *g, const char *name)
{
	return strncmp(name, "dax", 3) == 0 && strchr(name, '/') == NULL &&
	       strlen(name) < GATHER_NAME_MAX &&
	       sysroot_exists(g->root, "sys/bus/dax/devices/%s", name);
}

static void take_character(const struct gather *g, const char *name, struct facts_target *facts)
{
	const struct answers_path *answer = &facts->answer;
	char subsystem[32] = "", found[GATHER_NAME_MAX] = "";

	if (answer->numbers && name_of(g, "char", answer->major, answer->minor, found)) {
		sysroot_link_name(g->root, subsystem, sizeof(subsystem),
				  "sys/dev/char/%u:%u/subsystem", answer->major, answer->minor);
		snprintf(facts->device, sizeof(facts->device), "%s", found);
		name = found;
	}
	if (strcmp(subsystem, "dax") == 0 || is_devdax(g, name))
		take_devdax(g, name, facts);
}

static void take_block(const struct gather *g, const char *name, struct facts_target *facts)
{
	const struct answers_path *answer = &facts->answer;
	char found[GATHER_NAME_MAX];
	int64_t sectors;

	if (answer->numbers && name_of(g, "block", answer->major, answer->minor, found))
		name = found;
	if (gather_disk(g, name, facts))
		facts->shape = TARGET_ON_BLOCK;
	if (sysroot_number(g->root, &sectors, "sys/class/block/%s/size", name) && sectors >= 0 &&
	    sectors < INT64_MAX / SECTOR_BYTES)
		facts->size_bytes = sectors * SECTOR_BYTES;
}

static bool has_option(const char *options, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = options; *at != '\0'; at += strspn(at, ",")) {
		size_t word = strcspn(at, ",");

		if (word == len && strncmp(at, option, len) == 0)
			return true;
		at += word;
	}
	return false;
}

static bool is_below(const char *path, const char *point)
{
	size_t len = strlen(point);

	if (strcmp(point, "/") == 0)
		return path[0] == '/';
	return strncmp(path, point, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* The longest mount point wins, and of equal ones the last: it hides the others. */
static const struct mount *find_mount(const struct mounts *mounts, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *mount = &mounts->list[i];

		if (is_below(path, mount->point) &&
		    (best == NULL || strlen(mount->point) >= strlen(best->point)))
			best = mount;
	}
	return best;
}

static void read_mount(const struct mount *mount, struct facts_target *facts)
{
	const char *options = facts->mount_options;

	snprintf(facts->filesystem, sizeof(facts->filesystem), "%s", mount->type);
	snprintf(facts->mount_options, sizeof(facts->mount_options), "%.120s,%s", mount->options,
		 mount->fs_options);
	facts->read_only_mount = has_option(options, "ro");
	if (has_option(options, "dax") || has_option(options, "dax=always"))
		facts->dax_mount = KNOWN_YES;
	else if (has_option(options, "dax=inode"))
		facts->dax_mount = KNOWN_NOT;
	else
		facts->dax_mount = KNOWN_NO;
}

/* By statx, by the mount's numbers, or, of btrfs and the like, by what was mounted. */
static void take_file(const struct gather *g, const char *path, struct facts_target *facts)
{
	const struct answers_path *answer = &facts->answer;
	char name[GATHER_NAME_MAX];
	const struct mount *mount;
	struct mounts mounts;
	bool found;

	mounts_read(g->root, &mounts);
	mount = find_mount(&mounts, path);
	if (mount != NULL)
		read_mount(mount, facts);
	found = answer->numbers && name_of(g, "block", answer->major, answer->minor, name);
	if (!found && mount != NULL)
		found = name_of(g, "block", mount->major, mount->minor, name);
	if (!found && mount != NULL)
		snprintf(name, sizeof(name), "%.63s",
			 strncmp(mount->source, "/dev/", 5) == 0 ? strrchr(mount->source, '/') + 1
								 : mount->type);
	if (found || mount != NULL) {
		if (gather_disk(g, name, facts))
			facts->shape = TARGET_ON_FSDAX;
		if (answer->kind == ANSWERS_REGULAR)
			facts->size_bytes = answer->size_bytes;
	}
	mounts_free(&mounts);
}

/* A disk, or a partition of one. */
static bool is_block(const struct gather *g, const char *name)
{
	char disk[GATHER_NAME_MAX];
	unsigned region, space;

	if (strchr(name, '/') != NULL || strlen(name) >= GATHER_NAME_MAX)
		return false;
	return sysroot_exists(g->root, "sys/class/block/%s", name) ||
	       sysroot_exists(g->root, "sys/block/%s", name) ||
	       (gather_parse_disk(name, &region, &space, disk) &&
		sysroot_exists(g->root, "sys/block/%s", disk));
}

/* It could not be inspected: by name, as a tree of files knows it. */
static void take_by_name(const struct gather *g, const char *path, struct facts_target *facts)
{
	const bool in_dev = strncmp(path, "/dev/", strlen("/dev/")) == 0;
	const char *name = in_dev ? path + strlen("/dev/") : "";

	if (in_dev && is_devdax(g, name))
		take_devdax(g, name, facts);
	else if (in_dev && is_block(g, name))
		take_block(g, name, facts);
	else if (path[0] == '/' && !in_dev)
		take_file(g, path, facts);
	else /* not in sysfs, or relative to an unknown directory */
		facts->shape = TARGET_MISSING;
}

/* Without "//", "." and ".."; what is above the root is the root. */
static void tidy(char path[PATH_MAX])
{
	char copy[PATH_MAX], *rest, *name;
	size_t len = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	path[0] = '\0';
	for (name = strtok_r(copy, "/", &rest); name != NULL; name = strtok_r(NULL, "/", &rest)) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			char *slash = strrchr(path, '/');

			len = slash != NULL ? (size_t)(slash - path) : 0;
			path[len] = '\0';
			continue;
		}
		len += (size_t)snprintf(path + len, PATH_MAX - len, "/%s", name);
	}
	if (len == 0)
		snprintf(path, PATH_MAX, "/");
}

static void take_path(const struct gather *g, const char *target, struct facts_target *facts)
{
	char path[PATH_MAX];
	const char *base;

	answers_of_path(g->answers, target, &facts->answer);
	if (!g->root->machine || realpath(target, path) == NULL)
		snprintf(path, sizeof(path), "%s", target);
	if (path[0] == '/')
		tidy(path);
	base = strrchr(path, '/');
	base = base != NULL ? base + 1 : path;
	facts->shape = TARGET_NOT_PMEM;
	switch (facts->answer.kind) {
	case ANSWERS_CHARACTER:
		take_character(g, base, facts);
		break;
	case ANSWERS_BLOCK:
		take_block(g, base, facts);
		break;
	case ANSWERS_REGULAR:
	case ANSWERS_DIRECTORY:
		take_file(g, path, facts);
		break;
	case ANSWERS_OTHER:
		break;
	case ANSWERS_NONE:
		facts->shape = TARGET_MISSING;
		break;
	case ANSWERS_UNKNOWN:
		if (g->root->machine)
			facts->shape = TARGET_MISSING;
		else
			take_by_name(g, path, facts);
		break;
	}
}

/* "dram:64M" of rpma-bench. */
static bool take_memory(const char *target, struct facts_target *facts)
{
	const char *colon = strchr(target, ':');
	uint64_t bytes;

	if (strncmp(target, "dram:", 5) != 0 && strncmp(target, "hugepages:", 10) != 0)
		return false;
	facts->shape = TARGET_NOT_PMEM;
	snprintf(facts->device, sizeof(facts->device), "%.*s", (int)(colon - target), target);
	if (units_parse_size(colon + 1, &bytes) == 0 && bytes <= INT64_MAX)
		facts->size_bytes = (int64_t)bytes;
	return true;
}

void gather_target(const struct gather *g, const char *target, struct facts_target *facts)
{
	char dimms[1][GATHER_NAME_MAX];

	memset(facts, 0, sizeof(*facts));
	facts->answer = (struct answers_path){.size_bytes = -1, .dax = -1, .map_sync = -1};
	facts->dax_mount = facts->dax_queue = KNOWN_NOT;
	facts->size_bytes = facts->align_bytes = facts->badblocks = -1;
	facts->host_seen = sysroot_exists(g->root, "sys/bus");
	facts->regions_of_host = gather_count(g->root);
	facts->dimms_of_host = gather_names(g->root, ND_DEVICES, "nmem", dimms, 1);
	gather_cxl(g->root, &facts->cxl);
	if (target == NULL) {
		gather_host(g->root, facts);
		return;
	}
	snprintf(facts->path, sizeof(facts->path), "%s", target);
	if (!take_memory(target, facts))
		take_path(g, target, facts);
	gather_bad_ranges(g->root, facts);
}
