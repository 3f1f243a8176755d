/* SPDX-License-Identifier: BSD-3-Clause */
/* test_layout.c -- where files lie in a region, by the arithmetic of layout.h. */
#include "common/base/failure.h"
#include "fio_engine/layout.h"
#include "tests/lib/test.h"

static struct layout layout;

#define MIB (1ULL << 20)

/* layout_open() of a region of `bytes`, for a job of `job` bytes and files of these sizes. */
#define OPEN(bytes, mode, job, jobs, align, placed, ...)                                           \
	layout_open(&layout,                                                                       \
		    &(struct layout_request){                                                      \
			    mode, job, jobs, align, placed, (const uint64_t[]){__VA_ARGS__},       \
			    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)},           \
		    bytes)

static int close_layout(void **state)
{
	layout_close(&layout);
	return 0;
}

TEST(files_follow_each_other, NULL, close_layout)
{
	EQUAL((OPEN(4096, REGION_AUTO, 0, 1, 8, false, 100, 16, 8), 0), (layout.split, false),
	      (layout.files[0], 0), (layout.files[1], 104), (layout.files[2], 120),
	      (layout.sizes[0], 100), (layout.sizes[2], 8));
}

TEST(files_follow_without_a_gap_where_none_is_asked_for, NULL, close_layout)
{
	EQUAL((OPEN(20, REGION_SPLIT, 1, 2, 1, false, 3, 2, 5), 0), (layout.files[0], 10),
	      (layout.files[1], 13), (layout.files[2], 15));
}

TEST(files_without_a_size_share_what_there_is, NULL, close_layout)
{
	EQUAL((OPEN(100, REGION_AUTO, 0, 1, 8, false, 0, 0, 0), 0), (layout.sizes[0], 32),
	      (layout.files[2], 64), (layout.sizes[2], 32));
}

TEST(one_file_without_a_size_is_the_region, NULL, close_layout)
{
	EQUAL((OPEN(1001, REGION_AUTO, 0, 1, 8, false, 0), 0), (layout.files[0], 0),
	      (layout.sizes[0], 1001));
}

TEST(jobs_have_parts_of_their_own_where_they_fit, NULL, close_layout)
{
	EQUAL((OPEN(4 * MIB, REGION_AUTO, 3, 4, 8, false, MIB), 0), (layout.split, true),
	      (layout.base, 3 * MIB), (layout.files[0], 3 * MIB), (layout.bytes, MIB));
}

TEST(part_begins_where_an_atomic_write_can, NULL, close_layout)
{
	EQUAL((OPEN(100, REGION_SPLIT, 1, 3, 8, false, 0), 0), (layout.files[0], 32),
	      (layout.sizes[0], 32));
}

TEST(jobs_share_the_region_where_parts_are_too_small, NULL, close_layout)
{
	EQUAL((OPEN(4 * MIB, REGION_AUTO, 3, 4, 8, false, 4 * MIB), 0), (layout.split, false),
	      (layout.files[0], 0));
}

TEST(jobs_that_are_placed_share_the_region, NULL, close_layout)
{
	EQUAL((OPEN(4 * MIB, REGION_AUTO, 1, 4, 8, true, MIB), 0), (layout.split, false),
	      (layout.base, 0));
}

TEST(shared_is_followed, NULL, close_layout)
{
	EQUAL((OPEN(4 * MIB, REGION_SHARED, 1, 4, 8, false, MIB), 0), (layout.files[0], 0));
}

TEST(what_does_not_fit_is_refused_with_both_sizes)
{
	EQUAL((OPEN(2 * MIB, REGION_SHARED, 0, 1, 8, false, MIB, MIB + 1), -ENOSPC),
	      (failure_get()->text, HAS("2097153 B")), (failure_get()->text, HAS("2 MiB")),
	      (OPEN(4 * MIB, REGION_SPLIT, 0, 2, 8, false, MIB, MIB + 1), -ENOSPC),
	      (failure_get()->text, HAS("region=shared")));
}

TEST(sizes_beyond_all_numbers_are_refused)
{
	assert_int_equal(OPEN(MIB, REGION_AUTO, 0, 1, 8, false, UINT64_MAX - 4, UINT64_MAX - 4),
			 -ENOSPC);
}

TEST(more_files_than_the_region_has_room_for_are_refused)
{
	assert_int_equal(OPEN(16, REGION_AUTO, 0, 1, 8, false, 0, 0, 0), -ENOSPC);
}
