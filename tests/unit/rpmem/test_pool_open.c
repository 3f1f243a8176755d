/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_open.c -- pools opened again, and other attributes for them. */
#include "pool_scratch.h"

/* --- open ------------------------------------------------------------------------------ */

POOL_TEST(open_gives_the_attributes_back)
{
	const struct rpmem_pool_attr none = {.major = 0};

	for (size_t i = 0; i < KINDS; i++) {
		struct rpmem_pool_attr wanted = kinds[i].has_headers ? obj_attr() : none, attr;

		if (i == 1)
			wanted.incompat_features |= 1;
		memset(&attr, 0x5a, sizeof(attr));
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		assert_int_equal(pool_open(&pool, scratch, "my.set", MIB, &attr), 0);
		assert_memory_equal(&attr, &wanted, sizeof(attr));
		assert_int_equal(pool_has_headers(pool), kinds[i].has_headers);
		pool_close(&pool, false);
		assert_int_equal(pool_remove(scratch, "my.set", false, false), 0);
	}
}

POOL_TEST(open_refuses_a_pool_that_is_too_small)
{
	for (size_t i = 0; i < KINDS; i++) {
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		pool_close(&pool, false);
		assert_failed(reopen(&pool, "my.set", 32 * MIB), EFBIG, "33554432");
		assert_int_equal(pool_remove(scratch, "my.set", false, false), 0);
	}
}

POOL_TEST(open_keeps_every_byte_of_the_header)
{
	uint8_t before[HEAD], after[HEAD];

	set_write("my.set", kinds[0].set);
	make_pool("my.set", true);
	file_get("b", 0, before, sizeof(before));
	assert_int_equal(reopen(&pool, "my.set", MIB), 0);
	pool_close(&pool, false);
	file_get("b", 0, after, sizeof(after));
	assert_memory_equal(before, after, sizeof(before));
}

POOL_TEST(open_refuses_the_part_of_another_pool)
{
	set_write("one.set", "8M @/a\n8M @/b\n");
	set_write("two.set", "8M @/c\n8M @/d\n");
	set_write("mixed.set", "8M @/a\n8M @/d\n");
	make_pool("one.set", true);
	make_pool("two.set", true);
	assert_failed(reopen(&pool, "mixed.set", MIB), EINVAL, "/a: part 1 is not followed");
}

/* Headers would be in the midst of the data with the other geometry. */
POOL_TEST(open_refuses_the_other_option)
{
	set_write("ring.set", kinds[0].set);
	set_write("single.set", kinds[1].set);
	make_pool("ring.set", true);
	assert_failed(reopen(&pool, "single.set", MIB), EINVAL, "SINGLEHDR");
	assert_int_equal(pool_remove(scratch, "ring.set", false, false), 0);
	make_pool("single.set", true);
	assert_failed(reopen(&pool, "ring.set", MIB), EINVAL, "");
}

/* The header bytes that pmempool wrote, in parts of our size. */
POOL_TEST(open_takes_a_pool_of_pmempool)
{
	static const enum golden ring[] = {GOLDEN_RING_2K_1, GOLDEN_RING_2K_2, GOLDEN_RING_2K_3};
	static const char *const names[] = {"a", "b", "c"};
	struct rpmem_pool_attr attr;
	uint8_t bytes[HEAD];

	set_write("my.set", "2M @/a\n2M @/b\n2M @/c\n");
	for (size_t i = 0; i < 3; i++) {
		file_make(names[i], 2 * MIB);
		golden_header(ring[i], bytes);
		file_put(names[i], 0, bytes, sizeof(bytes));
	}
	assert_int_equal(pool_open(&pool, scratch, "my.set", MIB, &attr), 0);
	assert_memory_equal(attr.signature, "PMEMOBJ", 8);
	assert_int_equal(attr.incompat_features, 6);
	assert_memory_equal(attr.uuid, bytes + 72, 16); /* the third is followed by the first */
}

/* --- attributes ------------------------------------------------------------------------- */

POOL_TEST(set_attr_is_there_when_opened_again)
{
	for (size_t i = 0; i < 2; i++) {
		struct rpmem_pool_attr attr = obj_attr(), got;

		attr.major = 77;
		attr.incompat_features = i == 1 ? 3 : 2;
		memset(attr.uuid, 9, sizeof(attr.uuid));
		memset(attr.user_flags, 0, sizeof(attr.user_flags));
		assert_int_equal(create_kind(&pool, i, MIB), 0);
		memcpy(pool_memory(pool) + HEAD, "data", 5);
		EQUAL((pool_set_attr(pool, &attr), 0), ((char *)pool_memory(pool) + HEAD, "data"));
		pool_close(&pool, false);
		assert_int_equal(pool_open(&pool, scratch, "my.set", MIB, &got), 0);
		assert_memory_equal(&got, &attr, sizeof(got));
		pool_close(&pool, false);
		assert_int_equal(pool_remove(scratch, "my.set", false, false), 0);
	}
}

/* Zeros are stored, and the pool keeps its headers. */
POOL_TEST(set_attr_of_zeros_keeps_headers)
{
	struct rpmem_pool_attr zeros = {.major = 0}, got;

	set_write("my.set", kinds[0].set);
	EQUAL((create(&pool, "my.set", MIB), 0), (pool_set_attr(pool, NULL), 0),
	      (pool_has_headers(pool), true));
	pool_close(&pool, false);
	EQUAL((pool_open(&pool, scratch, "my.set", MIB, &got), 0), (pool_has_headers(pool), true));
	assert_memory_equal(&got, &zeros, sizeof(got));
	assert_int_equal(pool_set_attr(pool, &zeros), 0);
	pool_close(&pool, false);
	assert_failed(create(&pool, "my.set", MIB), EEXIST, "/a");
}

POOL_TEST(set_attr_without_headers_is_refused)
{
	const struct rpmem_pool_attr attr = obj_attr();

	assert_int_equal(create_kind(&pool, 2, MIB), 0);
	assert_failed(pool_set_attr(pool, &attr), EINVAL, "without headers");
	assert_int_equal(pool_set_attr(pool, NULL), 0);
	pool_close(&pool, false);
	assert_true(is_zero_at("a", 0));
}

POOL_TEST(set_attr_refuses_a_bit_that_the_set_lacks)
{
	struct rpmem_pool_attr attr = obj_attr(), got;

	set_write("my.set", kinds[0].set);
	assert_int_equal(create(&pool, "my.set", MIB), 0);
	attr.incompat_features |= 1;
	assert_failed(pool_set_attr(pool, &attr), EINVAL, "SINGLEHDR");
	pool_close(&pool, false);
	EQUAL((pool_open(&pool, scratch, "my.set", MIB, &got), 0), (got.incompat_features, 6));
}
