/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_parts.c -- parts that were there before the pool, and what cannot be one. */
#include "pool_scratch.h"

POOL_TEST(create_takes_files_of_zeros)
{
	set_write("my.set", kinds[0].set);
	file_make("a", 8 * MIB);
	file_make("b", 8 * MIB);
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	assert_true((size_t)stat_of("b").st_blocks * 512 >= 8 * MIB);
	pool_close(&pool, false);
	assert_int_equal(reopen(&pool, "my.set", MIB), 0);
}

/* They get no header, and no new size. */
POOL_TEST(a_failed_create_leaves_them_as_they_were)
{
	set_write("my.set", "8M @/a\n8M @/new\n8M @/b\n");
	file_make("a", 8 * MIB);
	file_make("b", 8 * MIB);
	file_put("b", 4095, "x", 1);
	assert_failed(create(&pool, "my.set", MIB), EEXIST, "/b");
	EQUAL((exists("new"), false), (is_zero_at("a", 0), true), (stat_of("a").st_size, 8 * MIB));
}

POOL_TEST(close_with_remove_takes_headers_out_of_them)
{
	set_write("my.set", kinds[0].set);
	file_make("b", 8 * MIB);
	file_put("b", 5000, "old", 4);
	EQUAL((create(&pool, "my.set", MIB), 0), (is_zero_at("b", 0), false));
	pool_close(&pool, true);
	EQUAL((exists("a"), false), (is_zero_at("b", 0), true), (create(&pool, "my.set", MIB), 0));
}

POOL_TEST(close_with_remove_spares_a_pool_that_was_opened)
{
	set_write("my.set", kinds[0].set);
	make_pool("my.set", true);
	assert_int_equal(reopen(&pool, "my.set", MIB), 0);
	pool_close(&pool, true);
	assert_int_equal(reopen(&pool, "my.set", MIB), 0);
	pool_close(&pool, false);
	pool_close(&pool, true);
}

POOL_TEST(close_with_remove_spares_a_file_put_in_its_place)
{
	char from[PATH_MAX], to[PATH_MAX];

	set_write("my.set", kinds[0].set);
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	scratch_write("precious", "data");
	assert_int_equal(rename(scratch_path("precious", from), scratch_path("a", to)), 0);
	pool_close(&pool, true);
	EQUAL((stat_of("a").st_size, 4), (exists("b"), false));
}

POOL_TEST(parts_of_another_size_are_refused)
{
	static const size_t sizes[] = {8 * MIB - 1, 8 * MIB + 1, 0, 16 * MIB};

	set_write("my.set", kinds[2].set);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		file_make("b", 1);
		file_make("b", sizes[i]);
		assert_failed(create_plain(&pool, "my.set", MIB), EINVAL, "8388608");
		assert_false(exists("a"));
		file_make("a", 8 * MIB);
		assert_failed(reopen(&pool, "my.set", MIB), EINVAL, "8388608");
		EQUAL((stat_of("b").st_size, sizes[i]),
		      (pool_remove(scratch, "my.set", true, false), 0));
	}
}

/* A directory, a device, a FIFO, one file twice, and AUTO for what is not a device. */
POOL_TEST(what_cannot_be_a_part_is_refused)
{
	static const struct {
		const char *set, *sentence;
	} cases[] = {
		{"8M @/dir\n", "/dir is neither"},
		{"8M /dev/null\n", "/dev/null is neither"},
		{"AUTO /dev/null\n", "/dev/null is neither"},
		{"8M @/fifo\n", "/fifo is neither"},
		{"OPTION NOHDRS\n8M @/file\n8M @/file\n", "/file are the same"},
		{"OPTION NOHDRS\n8M @/file\n8M @/link\n", "/link are the same"},
		{"OPTION NOHDRS\n8M @/file\n8M @/dir/../file\n", "/dir/../file are the same"},
		{"OPTION NOHDRS\nAUTO @/file\n", "AUTO is for device DAX"},
	};
	char path[PATH_MAX], link_path[PATH_MAX];

	file_make("file", 8 * MIB);
	EQUAL((mkdir(scratch_path("dir", path), 0700), 0),
	      (mkfifo(scratch_path("fifo", path), 0600), 0),
	      (link(scratch_path("file", path), scratch_path("link", link_path)), 0));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set_write("my.set", cases[i].set);
		assert_failed(create_plain(&pool, "my.set", MIB), EINVAL,
			      strncmp(cases[i].set, "OPTION", 6) == 0 ? cases[i].sentence : "");
		assert_failed(reopen(&pool, "my.set", MIB), EINVAL, cases[i].sentence);
	}
	assert_int_equal(files_left(), 5);
}

POOL_TEST(the_same_part_twice_is_refused_when_it_is_new)
{
	set_write("my.set", "8M @/a\n8M @/a\n");
	assert_failed(create(&pool, "my.set", MIB), EINVAL, "/a are the same");
	assert_int_equal(files_left(), 1);
}

POOL_TEST(a_part_in_a_directory_that_is_missing_is_told)
{
	set_write("my.set", "8M @/a\n8M @/none/b\n");
	assert_failed(create(&pool, "my.set", MIB), ENOENT, "/none/b");
	assert_int_equal(files_left(), 1);
}

/* Nothing is made where a link points to. */
POOL_TEST(a_dangling_link_is_no_new_part)
{
	set_write("my.set", "8M @/link\n");
	scratch_link("elsewhere", "link");
	assert_failed(create(&pool, "my.set", MIB), EEXIST, "/link");
	EQUAL((exists("elsewhere"), false), (files_left(), 2));
}
