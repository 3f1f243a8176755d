/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pool_layout.c -- where parts are in a pool: the sizes of rpmem_create(3). */
#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpmemd/pool_set.h"

#define MIB  (1024ULL * 1024)
#define PAGE 4096

static char first[] = "/a", second[] = "/b", third[] = "/c";
static struct pool_set_part set_parts[] = {{first, 0}, {second, 0}, {third, 0}};

static struct pool_layout_part file(uint64_t bytes)
{
	return (struct pool_layout_part){.file_bytes = bytes, .alignment = PAGE};
}

static struct pool_layout_part dax(uint64_t bytes, size_t alignment)
{
	return (struct pool_layout_part){
		.file_bytes = bytes, .alignment = alignment, .is_dax = true};
}

enum option { NO_OPTION, SINGLEHDR, NOHDRS };

static struct pool_set set_of(size_t count, enum option option)
{
	return (struct pool_set){set_parts, count, option == SINGLEHDR, option == NOHDRS};
}

TEST(the_option_decides_on_headers_and_size)
{
	static const struct {
		enum option option;
		size_t headers, bytes, second_offset;
		uint64_t second_in_file;
	} cases[] = {
		{NO_OPTION, 2, 16773120, 8 * MIB, PAGE},
		{SINGLEHDR, 1, 16777216, 8 * MIB, 0},
		{NOHDRS, 0, 16777216, 8 * MIB, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pool_layout_part parts[] = {file(8 * MIB), file(8 * MIB)};
		const struct pool_set set = set_of(2, cases[i].option);
		size_t bytes = 0;

		EQUAL((pool_layout_headers(&set), cases[i].headers),
		      (pool_layout(&set, parts, &bytes), 0), (bytes, cases[i].bytes),
		      (parts[0].offset, 0), (parts[0].file_offset, 0),
		      (parts[1].offset, cases[i].second_offset),
		      (parts[1].file_offset, cases[i].second_in_file),
		      (parts[1].offset + parts[1].length, bytes));
	}
}

/* The size is libpmemobj's, of three parts of 8 MiB. */
TEST(three_parts_lose_two_headers)
{
	struct pool_layout_part parts[] = {file(8 * MIB), file(8 * MIB), file(8 * MIB)};
	const struct pool_set set = set_of(3, NO_OPTION);
	size_t bytes = 0;

	EQUAL((pool_layout(&set, parts, &bytes), 0), (bytes, 25157632),
	      (parts[2].offset, 2 * 8 * MIB - PAGE));
}

TEST(parts_are_cut_to_whole_pages)
{
	struct pool_layout_part parts[] = {file(8 * MIB + 1), file(8 * MIB + PAGE - 1)};
	const struct pool_set set = set_of(2, NOHDRS);
	size_t bytes = 0;

	EQUAL((pool_layout(&set, parts, &bytes), 0), (bytes, 16 * MIB), (parts[1].offset, 8 * MIB));
}

/* RPMEM_MIN_PART is 2 MiB. */
TEST(a_part_has_2_mib_at_least)
{
	struct pool_layout_part enough = file(2 * MIB), less = file(2 * MIB - PAGE);
	const struct pool_set set = set_of(1, NO_OPTION);
	size_t bytes = 0;

	EQUAL((pool_layout(&set, &enough, &bytes), 0), (bytes, 2 * MIB),
	      (pool_layout(&set, &less, &bytes), -EINVAL),
	      (failure_get()->text, HAS("/a has 2093056 bytes: expected 2097152")));
}

TEST(a_pool_larger_than_memory_is_refused)
{
	struct pool_layout_part parts[] = {file(INT64_MAX), file(INT64_MAX), file(INT64_MAX)};
	const struct pool_set set = set_of(3, NOHDRS);
	size_t bytes;

	EQUAL((pool_layout(&set, parts, &bytes), -EINVAL), (failure_get()->text, HAS("/b")));
}

TEST(device_dax_is_not_mixed_with_files)
{
	struct pool_layout_part parts[] = {dax(8 * MIB, 2 * MIB), file(8 * MIB)};
	const struct pool_set set = set_of(2, NOHDRS);
	size_t bytes;

	EQUAL((pool_layout(&set, parts, &bytes), -EINVAL), (failure_get()->text, HAS("/a and /b")));
}

/* A device of 2 MiB alignment cannot be mapped from offset 4096 on. */
TEST(several_devices_need_small_alignment_or_an_option)
{
	static const struct {
		size_t alignment;
		enum option option;
		size_t bytes; /* 0: refused */
	} cases[] = {
		{2 * MIB, NO_OPTION, 0},
		{2 * MIB, SINGLEHDR, 16 * MIB},
		{2 * MIB, NOHDRS, 16 * MIB},
		{PAGE, NO_OPTION, 16 * MIB - PAGE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pool_layout_part parts[] = {dax(8 * MIB, cases[i].alignment),
						   dax(8 * MIB, cases[i].alignment)};
		const struct pool_set set = set_of(2, cases[i].option);
		size_t bytes = 0;
		const int ret = pool_layout(&set, parts, &bytes);

		EQUAL((ret, cases[i].bytes > 0 ? 0 : -EINVAL),
		      (ret == 0 ? bytes : 0, cases[i].bytes));
	}
}

TEST(a_device_follows_at_its_own_alignment_only)
{
	struct pool_layout_part parts[] = {dax(6 * MIB, 2 * MIB), dax(8 * MIB, 4 * MIB)};
	const struct pool_set set = set_of(2, NOHDRS);
	size_t bytes;

	assert_int_equal(pool_layout(&set, parts, &bytes), -EINVAL);
	parts[0].file_bytes = 8 * MIB;
	assert_int_equal(pool_layout(&set, parts, &bytes), 0);
}
