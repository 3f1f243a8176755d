/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment_pmem.c -- the persistent memory of a host: regions, what they
 * are cut into, and how that is mounted.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/host/mounts.h"
#include "environment.h"
#include "fact.h"
#include "result.h"

#define DEVICES "sys/bus/nd/devices"

/* The name of the only block device of a namespace; false: none. */
static bool block_name(const struct sysroot *root, const char *namespace, char name[64])
{
	struct sysroot_walk blocks = sysroot_walk(root, 1, DEVICES "/%s/block", namespace);
	const char *found = sysroot_next(&blocks);

	if (found != NULL)
		snprintf(name, 64, "%.63s", found);
	sysroot_walk_end(&blocks);
	return found != NULL;
}

/* How it is mounted, not where. */
static void add_mount(const struct sysroot *root, json_t *group, const char *block)
{
	const struct mount *mount = NULL;
	struct mounts mounts;
	char device[80];

	snprintf(device, sizeof(device), "/dev/%s", block);
	mounts_read(root, &mounts);
	for (size_t i = 0; i < mounts.count && mount == NULL; i++)
		mount = strcmp(mounts.list[i].source, device) == 0 ? &mounts.list[i] : NULL;
	json_object_set_new(group, "filesystem", result_text(mount ? mount->type : NULL));
	json_object_set_new(group, "mount_options", result_text(mount ? mount->fs_options : NULL));
	mounts_free(&mounts);
}

/* Adds what its directory in DEVICES tells to its name. */
static json_t *entry_json(const struct sysroot *root, const char *kind, const char *name,
			  const struct fact *facts)
{
	json_t *group = json_pack("{s:s}", kind, name);
	char base[PATH_MAX];

	snprintf(base, sizeof(base), DEVICES "/%s/", name);
	fact_add(root, group, base, facts);
	return group;
}

static json_t *namespace_json(const struct sysroot *root, const char *name)
{
	static const struct fact facts[] = {
		{"mode", FACT_TEXT, "mode"},
		{"size_bytes", FACT_NUMBER, "size"},
		{"numa_node", FACT_NODE, "numa_node"},
		{0},
	};
	json_t *group = entry_json(root, "namespace", name, facts);
	char block[64] = "";

	json_object_set_new(group, "block",
			    block_name(root, name, block) ? result_text(block) : json_null());
	add_mount(root, group, block);
	return group;
}

/* namespace1.0 is of region1 */
static json_t *namespaces_of(const struct sysroot *root, const char *region)
{
	const char *number = region + strlen("region");
	struct sysroot_walk devices = sysroot_walk(root, SIZE_MAX, DEVICES);
	json_t *list = json_array();
	const char *name;
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "namespace%s.", number);
	while ((name = sysroot_next(&devices)) != NULL) {
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			json_array_append_new(list, namespace_json(root, name));
	}
	return list;
}

/* A line each. */
static json_t *bad_blocks(const struct sysroot *root, const char *region)
{
	char text[4096];
	json_int_t lines = 0;

	if (sysroot_read(root, text, sizeof(text), DEVICES "/%s/badblocks", region) < 0)
		return json_null();
	for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	return json_integer(lines);
}

static json_t *region_json(const struct sysroot *root, const char *region)
{
	static const struct fact facts[] = {
		{"provider", FACT_TEXT, "../provider"},
		{"persistence_domain", FACT_TEXT, "persistence_domain"},
		{"size_bytes", FACT_NUMBER, "size"},
		{"align_bytes", FACT_NUMBER, "align"},
		{"read_only", FACT_NUMBER, "read_only"},
		{"numa_node", FACT_NODE, "numa_node"},
		{0},
	};
	json_t *group = entry_json(root, "region", region, facts);

	json_object_set_new(group, "badblocks", bad_blocks(root, region));
	json_object_set_new(group, "namespaces", namespaces_of(root, region));
	return group;
}

/* An empty list: the kernel knows of no persistent memory. */
json_t *environment_pmem(const struct sysroot *root)
{
	struct sysroot_walk devices = sysroot_walk(root, SIZE_MAX, DEVICES);
	json_t *list = json_array();
	const char *name;

	while ((name = sysroot_next(&devices)) != NULL) {
		if (strncmp(name, "region", 6) == 0)
			json_array_append_new(list, region_json(root, name));
	}
	return list;
}
