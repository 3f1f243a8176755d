/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool.c -- pools made on real files, and in use. */
#include "pool_scratch.h"

/* --- create --------------------------------------------------------------------------- */

POOL_TEST(create_gives_the_size_of_the_option)
{
	for (size_t i = 0; i < KINDS; i++) {
		EQUAL((create_kind(&pool, i, kinds[i].bytes), 0), (pool_size(pool), kinds[i].bytes),
		      (pool_has_headers(pool), kinds[i].has_headers),
		      ((uintptr_t)pool_memory(pool) % (2 * MIB), 0));
		remove_kind();
	}
}

POOL_TEST(parts_are_private_and_have_all_blocks)
{
	struct stat st;

	umask(0);
	assert_int_equal(create_kind(&pool, 0, MIB), 0);
	st = stat_of("b");
	EQUAL((st.st_mode & 07777, 0600), (st.st_size, 8 * MIB));
	assert_true((size_t)st.st_blocks * 512 >= 8 * MIB);
}

/* The header of each part, or of the first, or none. */
POOL_TEST(headers_are_where_the_option_has_them)
{
	static const bool written[KINDS][2] = {{true, true}, {true, false}, {false, false}};

	for (size_t i = 0; i < KINDS; i++) {
		EQUAL((create_kind(&pool, i, MIB), 0), (!is_zero_at("a", 0), written[i][0]),
		      (!is_zero_at("b", 0), written[i][1]));
		remove_kind();
	}
}

POOL_TEST(parts_follow_each_other_in_memory)
{
	for (size_t i = 0; i < KINDS; i++) {
		char text[8];

		assert_int_equal(create_kind(&pool, i, MIB), 0);
		memcpy(pool_memory(pool) + 8 * MIB - 4, "one two", 8);
		assert_int_equal(pool_persist(pool, 8 * MIB - 4, 8), 0);
		file_get("a", 8 * MIB - 4, text, 4);
		file_get("b", kinds[i].second_in_file, text + 4, 4);
		assert_memory_equal(text, "one two", 8);
		remove_kind();
	}
}

POOL_TEST(create_refuses_a_pool_that_is_too_small)
{
	for (size_t i = 0; i < KINDS; i++) {
		assert_failed(create_kind(&pool, i, 32 * MIB), EFBIG, "33554432");
		assert_failed(create_kind(&pool, i, kinds[i].bytes + 1), EFBIG, "my.set");
		EQUAL((pool, NULL), (files_left(), 1));
	}
}

POOL_TEST(a_set_that_may_not_be_read_is_told)
{
	char path[PATH_MAX];

	set_write("my.set", kinds[0].set);
	make_pool("my.set", true);
	assert_int_equal(chmod(scratch_path("my.set", path), 0), 0);
	become_user();
	assert_failed(create(&pool, "my.set", MIB), EACCES, "my.set");
	assert_failed(reopen(&pool, "my.set", MIB), EACCES, "my.set");
	become_root_again();
}

POOL_TEST(a_part_that_may_not_be_opened_is_told)
{
	char path[PATH_MAX];

	set_write("my.set", kinds[0].set);
	make_pool("my.set", true);
	assert_int_equal(chmod(scratch_path("b", path), 0), 0);
	become_user();
	if (getuid() == 0) { /* made by another user */
		assert_failed(reopen(&pool, "my.set", MIB), EACCES, "/a");
	} else {
		assert_failed(reopen(&pool, "my.set", MIB), EACCES, "/b");
	}
	become_root_again();
}

/* The data of a pool without headers stays. */
POOL_TEST(create_again_depends_on_headers)
{
	for (size_t i = 0; i < KINDS; i++) {
		char text[4] = "";

		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		file_put("a", 5000, "old", 4);
		if (kinds[i].has_headers) {
			assert_failed(create_kind(&pool, i, MIB), EEXIST, "/a");
		} else {
			assert_failed(create_kind(&pool, i, 32 * MIB), EFBIG, "my.set");
			assert_int_equal(create_kind(&pool, i, MIB), 0);
			pool_close(&pool, true);
		}
		file_get("a", 5000, text, 4);
		EQUAL((text, "old"), (exists("b"), true),
		      (pool_remove(scratch, "my.set", true, false), 0));
	}
}

POOL_TEST(a_pool_in_use_is_busy)
{
	for (size_t i = 0; i < KINDS; i++) {
		struct pool *other = NULL;

		assert_int_equal(create_kind(&pool, i, MIB), 0);
		assert_failed(create_kind(&other, i, MIB), EBUSY, "/a is locked");
		assert_failed(reopen(&other, "my.set", MIB), EBUSY, "/a is locked");
		assert_null(other);
		remove_kind();
	}
}

/* Nothing of the other set stays, nothing of the holder changes. */
POOL_TEST(a_set_that_shares_a_part_is_busy)
{
	struct pool *other = NULL;

	set_write("my.set", kinds[0].set);
	set_write("other.set", "8M @/c\n8M @/b\n");
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	memcpy(pool_memory(pool) + HEAD, "mine", 5);
	assert_failed(create(&other, "other.set", MIB), EBUSY, "/b is locked");
	EQUAL((exists("c"), false), ((char *)pool_memory(pool) + HEAD, "mine"));
	pool_close(&pool, false);
	assert_int_equal(reopen(&pool, "my.set", MIB), 0);
}

POOL_TEST(a_pool_with_headers_needs_attributes)
{
	const struct rpmem_pool_attr zeros = {.major = 0};

	for (size_t i = 0; i < 2; i++) {
		set_write("my.set", kinds[i].set);
		assert_failed(create_plain(&pool, "my.set", MIB), EINVAL, "NOHDRS");
		assert_failed(pool_create(&pool, scratch, "my.set", MIB, &zeros), EINVAL, "NOHDRS");
	}
	assert_int_equal(files_left(), 1);
}

POOL_TEST(a_pool_without_headers_takes_no_attributes)
{
	const struct rpmem_pool_attr zeros = {.major = 0};

	set_write("my.set", kinds[2].set);
	assert_failed(create(&pool, "my.set", MIB), EINVAL, "NOHDRS");
	EQUAL((files_left(), 1), (pool_create(&pool, scratch, "my.set", MIB, &zeros), 0));
}

/* The bit is a fact of the set, unless the attributes contradict. */
POOL_TEST(the_bit_of_singlehdr_comes_from_the_set)
{
	struct rpmem_pool_attr attr = obj_attr();

	set_write("my.set", kinds[1].set);
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	pool_close(&pool, false);
	EQUAL((pool_open(&pool, scratch, "my.set", MIB, &attr), 0), (attr.incompat_features, 7));
	pool_close(&pool, false);
	assert_int_equal(pool_remove(scratch, "my.set", false, false), 0);
	set_write("my.set", kinds[0].set);
	assert_failed(pool_create(&pool, scratch, "my.set", MIB, &attr), EINVAL, "SINGLEHDR");
	assert_int_equal(files_left(), 1);
}

/* pmempool sync does it, with 8192 bytes. */
POOL_TEST(a_pool_may_be_larger_than_asked_for)
{
	for (size_t i = 0; i < KINDS; i++) {
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		EQUAL((reopen(&pool, "my.set", 8192), 0), (pool_size(pool), kinds[i].bytes));
		pool_close(&pool, false);
		assert_int_equal(pool_remove(scratch, "my.set", false, false), 0);
	}
}

/* --- a pool in use ---------------------------------------------------------------------- */

POOL_TEST(persist_takes_ranges_within_the_pool)
{
	size_t bytes;

	assert_int_equal(create_kind(&pool, 0, MIB), 0);
	bytes = pool_size(pool);
	EQUAL((pool_persist(pool, 0, bytes), 0), (pool_persist(pool, bytes - 1, 1), 0),
	      (pool_persist(pool, 8 * MIB - 1, 2), 0), (pool_persist(pool, 1, 0), 0),
	      (pool_deep_persist(pool, 4099, 70000), 0));
	assert_failed(pool_persist(pool, bytes, 0), EINVAL, "not within");
	assert_failed(pool_persist(pool, bytes - 1, 2), EINVAL, "not within");
	assert_failed(pool_persist(pool, 1, SIZE_MAX), EINVAL, "not within");
	assert_failed(pool_persist(pool, SIZE_MAX, 1), EINVAL, "not within");
	assert_failed(pool_deep_persist(pool, 0, bytes + 1), EINVAL, "not within");
}

POOL_TEST(memory_is_refused_unless_forced)
{
	char memory[] = "/dev/shm/rpma-test-XXXXXX", set[256], part[64];
	enum target_kind kind;

	if (mkdtemp(memory) == NULL) {
		print_message("no directory can be made in /dev/shm\n");
		skip();
	}
	snprintf(part, sizeof(part), "%s/b", memory);
	snprintf(set, sizeof(set), "OPTION NOHDRS\n2M @/a\n2M %s\n", part);
	set_write("my.set", set);
	assert_failed(create_plain(&pool, "my.set", MIB), ENOTSUP, part);
	assert_int_equal(setenv("PMEM_IS_PMEM_FORCE", "0", 1), 0);
	assert_failed(create_plain(&pool, "my.set", MIB), ENOTSUP, "PMEM_IS_PMEM_FORCE=1");
	EQUAL((exists("a"), false), (setenv("PMEM_IS_PMEM_FORCE", "1", 1), 0),
	      (create_plain(&pool, "my.set", MIB), 0));
	kind = pool_kind(pool);
	pool_close(&pool, true);
	assert_int_equal(unsetenv("PMEM_IS_PMEM_FORCE"), 0);
	assert_int_equal(rmdir(memory), 0); /* no part is left */
	assert_int_equal(kind, TARGET_MEMFILE);
}
