/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sysroot_record.c -- what was read below one root reads the same below
 * the copy, and what was not read is not in it.
 */
#include "common/base/failure.h"
#include "common/host/sysroot.h"
#include "tests/lib/scratch.h"

/* Opens SCRATCH/from, which is recorded to SCRATCH/to. */
static struct sysroot recorded(void)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct sysroot root;

	EQUAL((sysroot_open(&root, scratch_path("from", from)), 0),
	      (sysroot_record(&root, scratch_path("to", to)), 0));
	return root;
}

static struct sysroot copy(struct sysroot *root)
{
	struct sysroot replay;
	char to[PATH_MAX];

	assert_int_equal(sysroot_record_end(root), 0);
	sysroot_close(root);
	assert_int_equal(sysroot_open(&replay, scratch_path("to", to)), 0);
	return replay;
}

static bool copied(const char *name)
{
	char path[PATH_MAX], below[PATH_MAX];

	snprintf(below, sizeof(below), "to/%.4000s", name);
	return faccessat(AT_FDCWD, scratch_path(below, path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

SCRATCH_TEST(what_was_read_reads_the_same)
{
	char line[64], other[64], real[PATH_MAX];
	unsigned char bytes[8] = {0};
	struct sysroot root, replay;

	scratch_write("from/sys/devices/pci0/nic/fw_ver", "1.2\n");
	scratch_write("from/sys/devices/pci0/nic/untouched", "1\n");
	scratch_link("../../devices/pci0/nic", "from/sys/class/infiniband/mlx5_0");
	scratch_write("from/dev/cpu/0/msr", "0123456789");
	root = recorded();
	EQUAL((sysroot_line(&root, line, sizeof(line), "sys/class/infiniband/mlx5_0/fw_ver"), true),
	      (sysroot_pread(&root, "dev/cpu/0/msr", 4, bytes, 2), 2));
	replay = copy(&root);
	assert_true(
		sysroot_line(&replay, other, sizeof(other), "sys/class/infiniband/mlx5_0/fw_ver"));
	EQUAL((other, line),
	      (sysroot_real_path(&replay, real, "sys/class/infiniband/mlx5_0"), true),
	      (real, "sys/devices/pci0/nic"),
	      (sysroot_pread(&replay, "dev/cpu/0/msr", 4, bytes, 2), 2));
	assert_memory_equal(bytes, "45", 2);
	assert_false(copied("sys/devices/pci0/nic/untouched"));
	sysroot_close(&replay);
}

/* The names of a directory are known, their bytes are not: nothing may come of that. */
SCRATCH_TEST(a_listing_keeps_its_names)
{
	struct sysroot root, replay;
	struct sysroot_walk listed;
	int64_t value;
	int count = 0;

	scratch_write("from/sys/a/one", "1\n");
	scratch_write("from/sys/a/two", "2\n");
	scratch_write("from/sys/a/below/three", "3\n");
	scratch_link("../nowhere", "from/sys/a/link");
	root = recorded();
	listed = sysroot_walk(&root, SIZE_MAX, "sys/a");
	sysroot_walk_end(&listed);
	assert_true(sysroot_number(&root, &value, "sys/a/two"));
	replay = copy(&root);
	listed = sysroot_walk(&replay, SIZE_MAX, "sys/a");
	while (sysroot_next(&listed) != NULL)
		count++;
	EQUAL((count, 4), (sysroot_exists(&replay, "sys/a/one"), true),
	      (sysroot_number(&replay, &value, "sys/a/one"), false),
	      (sysroot_number(&replay, &value, "sys/a/two"), true), (value, 2),
	      (sysroot_exists(&replay, "sys/a/link"), false), (copied("sys/a/below/three"), false));
	sysroot_close(&replay);
}

SCRATCH_TEST(an_empty_file_and_one_that_is_not_there_differ)
{
	struct sysroot root, replay;
	char text[8], path[PATH_MAX];

	scratch_write("from/badblocks", "");
	assert_int_equal(mkfifo(scratch_path("from/unread", path), 0600), 0);
	root = recorded();
	EQUAL((sysroot_read(&root, text, sizeof(text), "badblocks"), 0),
	      (sysroot_read(&root, text, sizeof(text), "unread"), -1),
	      (sysroot_read(&root, text, sizeof(text), "missing"), -1));
	replay = copy(&root);
	EQUAL((sysroot_read(&replay, text, sizeof(text), "badblocks"), 0),
	      (sysroot_read(&replay, text, sizeof(text), "unread"), -1),
	      (sysroot_exists(&replay, "unread"), true),
	      (sysroot_exists(&replay, "missing"), false));
	sysroot_close(&replay);
}

/* A short look first, a long one later, and a short one again. */
SCRATCH_TEST(the_longest_reading_is_kept)
{
	char text[16];
	struct sysroot root, replay;

	scratch_write("from/file", "0123456789\n");
	root = recorded();
	EQUAL((sysroot_read(&root, text, 4, "file"), 3), (sysroot_read(&root, text, 8, "file"), 7),
	      (sysroot_read(&root, text, 4, "file"), 3));
	replay = copy(&root);
	EQUAL((sysroot_read(&replay, text, sizeof(text), "file"), 7), (text, "0123456"));
	sysroot_close(&replay);
}

/* udev names interfaces by their address: the copy has one pseudonym for it everywhere. */
SCRATCH_TEST(names_with_addresses_are_hidden_everywhere)
{
	char name[32], line[64], argument[] = "enx0a1b2c3d4e5f";
	struct sysroot root, replay;

	scratch_write("from/sys/class/net/enx0a1b2c3d4e5f/mtu", "1500\n");
	scratch_write("from/sys/ib/ndev", "enx0a1b2c3d4e5f\n");
	scratch_link("../class/net/enx0a1b2c3d4e5f", "from/sys/ib/parent");
	root = recorded();
	EQUAL((sysroot_line(&root, line, sizeof(line), "sys/ib/ndev"), true),
	      (sysroot_line(&root, line, sizeof(line), "sys/class/net/enx0a1b2c3d4e5f/mtu"), true),
	      (sysroot_link_name(&root, name, sizeof(name), "sys/ib/parent"), true));
	sysroot_record_text(&root, argument);
	replay = copy(&root);
	EQUAL((copied("sys/class/net/enx0a1b2c3d4e5f"), false),
	      (sysroot_line(&replay, line, sizeof(line), "sys/ib/ndev"), true), (line, argument));
	assert_string_not_equal(line, "enx0a1b2c3d4e5f");
	EQUAL((sysroot_link_name(&replay, name, sizeof(name), "sys/ib/parent"), true),
	      (name, argument), (sysroot_exists(&replay, "sys/class/net/%s/mtu", argument), true));
	sysroot_close(&replay);
}

SCRATCH_TEST(only_an_empty_directory_is_taken)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct sysroot root;

	scratch_write("from/x", "1\n");
	scratch_write("to/something", "");
	assert_int_equal(sysroot_open(&root, scratch_path("from", from)), 0);
	assert_int_not_equal(sysroot_record(&root, scratch_path("to", to)), 0);
	EQUAL((failure_get()->text, HAS("expected a new or an empty directory")),
	      (root.record, NULL), (unlink(scratch_path("to/something", to)), 0),
	      (sysroot_record(&root, scratch_path("to", to)), 0), (sysroot_record_end(&root), 0),
	      (sysroot_record_end(&root), 0));
	sysroot_close(&root);
}

/* Both are from one machine; a key of its own keeps them from being put side by side. */
SCRATCH_TEST(two_records_have_different_pseudonyms)
{
	char one[] = "0c42:a103:0068:7a44", other[] = "0c42:a103:0068:7a44", path[PATH_MAX];
	struct sysroot root;

	EQUAL((sysroot_open(&root, scratch), 0),
	      (sysroot_record(&root, scratch_path("one", path)), 0));
	sysroot_record_text(&root, one);
	EQUAL((sysroot_record_end(&root), 0),
	      (sysroot_record(&root, scratch_path("other", path)), 0));
	sysroot_record_text(&root, other);
	assert_string_not_equal(one, other);
	sysroot_close(&root);
}
