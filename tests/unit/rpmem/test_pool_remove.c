/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_remove.c -- pools removed, and those that must stay. */
#include "pool_scratch.h"

/* The disk is full while this is true. */
static bool disk_is_full;

int __real_posix_fallocate(int fd, off_t at, off_t len);
int __wrap_posix_fallocate(int fd, off_t at, off_t len)
{
	return disk_is_full ? ENOSPC : __real_posix_fallocate(fd, at, len);
}

static int remove_plainly(const char *name)
{
	return pool_remove(scratch, name, false, false);
}

static int remove_by_force(const char *name)
{
	return pool_remove(scratch, name, true, false);
}

POOL_TEST(parts_go_and_the_set_if_asked)
{
	static const struct {
		bool force, with_set;
	} cases[] = {{false, false}, {true, false}, {false, true}, {true, true}};

	for (size_t kind = 0; kind < KINDS; kind++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			assert_int_equal(create_kind(&pool, kind, MIB), 0);
			pool_close(&pool, false);
			EQUAL((pool_remove(scratch, "my.set", cases[i].force, cases[i].with_set),
			       0),
			      (exists("a") || exists("b"), false),
			      (exists("my.set"), !cases[i].with_set));
			assert_failed(reopen(&pool, "my.set", MIB), ENOENT, "");
		}
	}
}

/* By force, nothing is left to do. */
POOL_TEST(a_pool_never_created_takes_force)
{
	for (size_t i = 0; i < KINDS; i++) {
		set_write("my.set", kinds[i].set);
		assert_failed(remove_plainly("my.set"), ENOENT, "/a");
		EQUAL((remove_by_force("my.set"), 0), (exists("my.set"), true));
	}
}

POOL_TEST(a_missing_part_takes_force)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < KINDS; i++) {
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		assert_int_equal(unlink(scratch_path("b", path)), 0);
		assert_failed(remove_plainly("my.set"), ENOENT, "/b");
		EQUAL((exists("a"), true), (remove_by_force("my.set"), 0), (exists("a"), false));
	}
}

POOL_TEST(a_corrupt_header_takes_force)
{
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		file_put("a", 24, "corrupt", 7);
		assert_failed(remove_plainly("my.set"), EINVAL, "checksum");
		EQUAL((exists("a") && exists("b"), true), (remove_by_force("my.set"), 0),
		      (exists("a") || exists("b"), false));
	}
}

POOL_TEST(a_part_of_another_size_takes_force)
{
	set_write("my.set", kinds[2].set);
	file_make("a", 8 * MIB);
	file_make("b", 4096);
	assert_failed(remove_plainly("my.set"), EINVAL, "4096");
	EQUAL((remove_by_force("my.set"), 0), (files_left(), 1));
}

/* Its parts are too small for a pool. */
POOL_TEST(a_set_that_makes_no_pool_takes_force)
{
	set_write("my.set", "4096 @/a\n");
	file_make("a", 4096);
	assert_failed(remove_plainly("my.set"), EINVAL, "4096");
	EQUAL((remove_by_force("my.set"), 0), (files_left(), 1));
}

POOL_TEST(a_set_that_does_not_parse_stays_even_by_force)
{
	set_write("my.set", kinds[0].set);
	make_pool("my.set", true);
	set_write("my.set", "8M @/a\n8M @/b\nwrong\n");
	assert_failed(remove_plainly("my.set"), EINVAL, "my.set:4:");
	assert_failed(pool_remove(scratch, "my.set", true, true), EINVAL, "my.set:4:");
	assert_int_equal(files_left(), 3);
}

POOL_TEST(a_missing_set_is_told_even_by_force)
{
	assert_failed(remove_plainly("my.set"), ENOENT, "my.set");
	assert_failed(pool_remove(scratch, "my.set", true, true), ENOENT, "my.set");
}

POOL_TEST(a_pool_in_use_stays_even_by_force)
{
	for (size_t i = 0; i < KINDS; i++) {
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		assert_failed(remove_plainly("my.set"), EBUSY, "/a is locked");
		assert_failed(pool_remove(scratch, "my.set", true, true), EBUSY, "/a is locked");
		assert_int_equal(files_left(), 3);
		remove_kind();
	}
}

/* The first part is free, the second one is another pool's. */
POOL_TEST(no_part_goes_if_one_is_in_use)
{
	struct pool *other = NULL;

	set_write("my.set", kinds[0].set);
	set_write("other.set", "OPTION NOHDRS\n8M @/b\n");
	make_pool("my.set", true);
	assert_int_equal(create_plain(&other, "other.set", MIB), 0);
	assert_failed(remove_by_force("my.set"), EBUSY, "/b is locked");
	assert_true(exists("a") && exists("b"));
	pool_close(&other, false);
	assert_int_equal(remove_plainly("my.set"), 0);
}

POOL_TEST(what_is_not_a_file_stays)
{
	char path[PATH_MAX];

	set_write("my.set", "8M @/dir\n");
	assert_int_equal(mkdir(scratch_path("dir", path), 0700), 0);
	assert_failed(remove_by_force("my.set"), EINVAL, "/dir");
	assert_true(exists("dir"));
	set_write("my.set", "AUTO /dev/null\n");
	assert_failed(remove_by_force("my.set"), EINVAL, "/dev/null");
	set_write("my.set", "AUTO @/none\n");
	assert_int_equal(remove_by_force("my.set"), 0);
}

/* A pool whose part has holes, as a copy of a file may have; no block of it is its own. */
static void make_sparse_pool(void)
{
	char path[PATH_MAX];

	set_write("my.set", "OPTION NOHDRS\n8M @/a\n");
	make_pool("my.set", false);
	EQUAL((truncate(scratch_path("a", path), 0), 0), (truncate(path, 8 * MIB), 0));
}

POOL_TEST(holes_of_a_part_are_removed_on_a_full_disk)
{
	make_sparse_pool();
	disk_is_full = true;
	assert_int_equal(remove_plainly("my.set"), 0);
	disk_is_full = false;
	assert_false(exists("a"));
}

POOL_TEST(holes_stay_when_a_pool_is_only_inspected)
{
	struct rpmem_pool_attr attr;
	blkcnt_t blocks;

	make_sparse_pool();
	blocks = stat_of("a").st_blocks;
	disk_is_full = true;
	assert_int_equal(pool_inspect(&pool, scratch, "my.set", MIB, &attr), 0);
	pool_close(&pool, false);
	assert_failed(reopen(&pool, "my.set", MIB), ENOSPC, "holes");
	disk_is_full = false;
	assert_int_equal(stat_of("a").st_blocks, blocks);
}

POOL_TEST(a_part_in_a_directory_without_permission_is_told)
{
	char path[PATH_MAX], directory[PATH_MAX];

	set_write("my.set", "8M @/dir/a\n");
	scratch_path("dir/a", path);
	make_pool("my.set", true);
	EQUAL((chmod(path, 0666), 0), (chmod(scratch_path("dir", directory), 0555), 0));
	become_user();
	assert_failed(pool_remove(scratch, "my.set", false, true), EACCES, "/dir/a");
	become_root_again();
	EQUAL((chmod(directory, 0755), 0), (exists("dir/a") && exists("my.set"), true));
}
