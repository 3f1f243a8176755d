/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sysfs.c -- which paths are files of the device, and what is in them.
 *
 * Two devices stand in for those of a host. The formats are those of the kernel's sysfs:
 * Documentation/ABI/stable/sysfs-class-infiniband.
 */
#include <endian.h>
#include <net/if.h>

#include "soft_device/sysfs/tree.h"
#include "soft_device/verbs/device.h"
#include "tests/lib/test.h"

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct device devices[] = {
	{.ibv = {.name = "soft0", .dev_name = "soft_uverbs0"},
	 .gid.raw = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1}},
	{.ibv = {.name = "soft1", .dev_name = "soft_uverbs1"},
	 .gid.raw = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
};

unsigned device_count(void)
{
	return ARRAY_LENGTH(devices);
}

struct device *device_at(unsigned index)
{
	return index < device_count() ? &devices[index] : NULL;
}

static enum tree_kind kind_of(const char *path, bool follow)
{
	return tree_find(path, follow).kind;
}

static const char *text_of(const char *path)
{
	static char text[TREE_TEXT_MAX];
	const struct tree_node node = tree_find(path, false);
	size_t length;

	assert_true(node.kind == TREE_FILE || node.kind == TREE_LINK);
	length = tree_text(&node, text);
	assert_int_equal(length, strlen(text));
	return text;
}

TEST(other_paths_are_not_known)
{
	static const char *const paths[] = {
		"/",
		"/sys/class",
		"/sys/class/net",
		"/sys/class/infiniban",
		"/sys/class/infiniband/..",
		"/sys/class/infiniband/../net/lo",
		"/dev/infiniband2",
		"/dev/infiniband/../null",
		"/sys/devices/virtual/infinibandx",
		"/home/sys/class/infiniband",
		"sys/class/infiniband",
		"",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
		assert_int_equal(kind_of(paths[i], true), TREE_OTHER);
}

TEST(each_kind_is_found)
{
	static const struct {
		const char *path;
		enum tree_kind kind, followed;
	} rows[] = {
		{"/sys/class/infiniband", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband/", TREE_FOLDER, TREE_FOLDER},
		{"/sys//class/./net/../infiniband/", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband/soft0", TREE_LINK, TREE_FOLDER},
		{"/sys/class/infiniband/soft0/", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband/soft1/ports", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband/soft1/device/net/lo", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband/soft0/ports/1/gids/3", TREE_FILE, TREE_FILE},
		{"/sys/devices/virtual/infiniband/soft1", TREE_FOLDER, TREE_FOLDER},
		{"/sys/class/infiniband_verbs/soft_uverbs1", TREE_LINK, TREE_FOLDER},
		{"/sys/class/infiniband_verbs/soft_uverbs1/ibdev", TREE_FILE, TREE_FILE},
		{"/sys/class/infiniband_verbs/abi_version", TREE_FILE, TREE_FILE},
		{"/dev/infiniband", TREE_FOLDER, TREE_FOLDER},
		{"/dev/infiniband/rdma_cm", TREE_DEVICE, TREE_DEVICE},
		{"/dev/infiniband/soft_uverbs0", TREE_DEVICE, TREE_DEVICE},
	};

	devices[1].ifindex = if_nametoindex("lo");
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		assert_int_equal(kind_of(rows[i].path, false), rows[i].kind);
		assert_int_equal(kind_of(rows[i].path, true), rows[i].followed);
	}
}

TEST(devices_of_the_host_are_hidden)
{
	static const char *const paths[] = {
		"/sys/class/infiniband/mlx5_0",
		"/sys/class/infiniband/rxe0/ports/1",
		"/sys/class/infiniband/soft2",
		"/sys/class/infiniband/soft",
		"/sys/class/infiniband/soft00",
		"/sys/class/infiniband/soft0/device/vendor",
		"/sys/class/infiniband/soft0/device/net/eth9",
		"/sys/class/infiniband/soft0/ports/2",
		"/sys/class/infiniband/soft0/ports/1/gids/4",
		"/sys/class/infiniband/soft0/ports/1/gids/00",
		"/sys/class/infiniband_verbs/uverbs0",
		"/sys/class/infiniband_mad/abi_version",
		"/sys/devices/virtual/infiniband/rxe0",
		"/dev/infiniband/uverbs0",
		"/dev/infiniband/soft_uverbs2",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(paths); i++)
		assert_int_equal(kind_of(paths[i], true), TREE_MISSING);
}

TEST(too_long_a_path_is_not_known)
{
	char path[4096] = "/sys/class/infiniband/";

	memset(path + strlen(path), 'x', 3000);
	assert_int_equal(kind_of(path, true), TREE_OTHER);
}

TEST(files_have_the_formats_of_the_kernel)
{
	devices[0].guid = htobe64(UINT64_C(0x536f6600aabbccdd));
	devices[0].ifindex = if_nametoindex("lo");
#define SOFT0 "/sys/class/infiniband/soft0/"
	assert_string_equal(text_of(SOFT0 "node_type"), "1: CA\n");
	assert_string_equal(text_of(SOFT0 "node_guid"), "536f:6600:aabb:ccdd\n");
	assert_string_equal(text_of(SOFT0 "ports/1/state"), "4: ACTIVE\n");
	assert_string_equal(text_of(SOFT0 "ports/1/phys_state"), "5: LinkUp\n");
	assert_string_equal(text_of(SOFT0 "ports/1/link_layer"), "Ethernet\n");
	assert_string_equal(text_of(SOFT0 "ports/1/gids/0"),
			    "0000:0000:0000:0000:0000:ffff:c000:0201\n");
	assert_string_equal(text_of("/sys/class/infiniband/soft1/ports/1/gids/3"),
			    "2001:0db8:0000:0000:0000:0000:0000:0001\n");
	assert_string_equal(text_of(SOFT0 "ports/1/gid_attrs/types/0"), "IB/RoCE v1\n");
	assert_string_equal(text_of(SOFT0 "ports/1/gid_attrs/types/1"), "RoCE v2\n");
	assert_string_equal(text_of(SOFT0 "ports/1/gid_attrs/types/3"), "RoCE v2\n");
	assert_string_equal(text_of(SOFT0 "ports/1/gid_attrs/ndevs/1"), "lo\n");
	assert_string_equal(text_of(SOFT0 "ports/1/pkeys/0"), "0xffff\n");
	assert_string_equal(text_of("/sys/class/infiniband_verbs/soft_uverbs1/ibdev"), "soft1\n");
	assert_string_equal(text_of("/sys/class/infiniband_verbs/soft_uverbs1/dev"), "231:193\n");
}

TEST(links_point_to_what_they_lead_to)
{
	static const char *const links[] = {"/sys/class/infiniband/soft1",
					    "/sys/class/infiniband_verbs/soft_uverbs1"};

	for (size_t i = 0; i < ARRAY_LENGTH(links); i++) {
		char joined[256], path[256];
		struct tree_node target;

		/* a relative target is that from the folder of the link */
		snprintf(joined, sizeof(joined), "%s/../%s", links[i], text_of(links[i]));
		target = tree_find(joined, false);
		assert_int_equal(target.kind, TREE_FOLDER);
		tree_path(&target, path, sizeof(path));
		assert_string_equal(strrchr(path, '/'), strrchr(links[i], '/'));
		assert_ptr_equal(tree_find(links[i], true).row, target.row);
	}
}

/* Each entry of a folder is found by its path, and has a number of its own. */
static void walk(const char *folder, ino_t *numbers, size_t *count)
{
	const struct tree_node node = tree_find(folder, true);
	struct tree_node entry;
	char name[TREE_NAME_MAX];

	assert_int_equal(node.kind, TREE_FOLDER);
	for (size_t n = 0; tree_entry(&node, n, name, &entry); n++) {
		struct tree_node found;
		char path[256];

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		found = tree_find(path, false);
		assert_int_equal(found.kind, entry.kind);
		assert_int_equal(tree_number(&found), tree_number(&entry));
		for (size_t i = 0; i < *count; i++)
			assert_int_not_equal(numbers[i], tree_number(&entry));
		numbers[(*count)++] = tree_number(&entry);
		if (entry.kind == TREE_FOLDER)
			walk(path, numbers, count);
	}
}

TEST(folders_list_what_can_be_found)
{
	static const struct {
		const char *path;
		size_t all; /* entries, those of folders in it included */
	} rows[] = {
		{"/sys/class/infiniband", 2},
		{"/sys/class/infiniband_verbs", 3},
		{"/dev/infiniband", 3},
		/* a folder; 7 entries in it; net, lo; port 1; 12 entries; P_Key; 4 GIDs; 2 x 4 */
		{"/sys/devices/virtual/infiniband", 2 * (1 + 7 + 2 + 1 + 12 + 1 + 4 + 2 + 8)},
		{"/sys/devices/virtual/infiniband_verbs", 2 * (1 + 3)},
	};
	ino_t numbers[128];

	devices[0].ifindex = devices[1].ifindex = if_nametoindex("lo");

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		size_t count = 0;

		walk(rows[i].path, numbers, &count);
		assert_int_equal(count, rows[i].all);
	}
}
