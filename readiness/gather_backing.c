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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gather_pmem.h"

static bool read_numbers(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && name[len] != '\0' &&
	       name[len + strspn(name + len, "0123456789.")] == '\0';
}

/* The region at this place of the path is the one that libnvdimm lists. */
static bool is_listed(const struct sysroot *root, const char *region, const char *path)
{
	char listed[PATH_MAX], real[PATH_MAX];

	snprintf(listed, sizeof(listed), ND_DEVICES "/%s", region);
	return sysroot_exists(root, "%s", listed) && sysroot_real_path(root, listed, real) &&
	       strcmp(real, path) == 0;
}

/* The device that claims a namespace has its number: pfn0.1, dax0.1, btt0.1. */
static void add_namespace(const struct sysroot *root, const char *path, const char *name,
			  struct facts_target *facts)
{
	char space[GATHER_NAME_MAX];

	if (read_numbers(name, "namespace"))
		gather_namespace(root, name, facts);
	else if (sysroot_line(root, space, sizeof(space), "%s/namespace", path) &&
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

	if (!sysroot_exists(root, "%s", directory) || !sysroot_real_path(root, directory, real))
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
