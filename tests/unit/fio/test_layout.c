/* SPDX-License-Identifier: BSD-3-Clause */
/* test_layout.c -- where files lie in a region, by the arithmetic of layout.h. */
#include "common/base/failure.h"
#include "fio_engine/layout.h"
#include "tests/lib/test.h"

static struct layout layout;

#define MIB (1ULL << 20)

TEST(files_follow_each_other)
{
	const uint64_t bytes[] = {100, 16, 8};
	const struct layout_request request = {REGION_AUTO, 0, 1, 8, false, bytes, 3};

	EQUAL((layout_open(&layout, &request, 4096), 0), (layout.split, false),
	      (layout.files[0], 0), (layout.files[1], 104), (layout.files[2], 120),
	      (layout.sizes[0], 100), (layout.sizes[2], 8));
	layout_close(&layout);
}

TEST(files_follow_without_a_gap_where_none_is_asked_for)
{
	const uint64_t bytes[] = {3, 2, 5};
	const struct layout_request request = {REGION_SPLIT, 1, 2, 1, false, bytes, 3};

	EQUAL((layout_open(&layout, &request, 20), 0), (layout.files[0], 10), (layout.files[1], 13),
	      (layout.files[2], 15));
	layout_close(&layout);
}

TEST(files_without_a_size_share_what_there_is)
{
	const uint64_t bytes[] = {0, 0, 0};
	const struct layout_request request = {REGION_AUTO, 0, 1, 8, false, bytes, 3};

	EQUAL((layout_open(&layout, &request, 100), 0), (layout.sizes[0], 32),
	      (layout.files[2], 64), (layout.sizes[2], 32));
	layout_close(&layout);
}

TEST(one_file_without_a_size_is_the_region)
{
	const uint64_t bytes[] = {0};
	const struct layout_request request = {REGION_AUTO, 0, 1, 8, false, bytes, 1};

	EQUAL((layout_open(&layout, &request, 1001), 0), (layout.files[0], 0),
	      (layout.sizes[0], 1001));
	layout_close(&layout);
}

TEST(jobs_have_parts_of_their_own_where_they_fit)
{
	const uint64_t bytes[] = {MIB};
	const struct layout_request request = {REGION_AUTO, 3, 4, 8, false, bytes, 1};

	EQUAL((layout_open(&layout, &request, 4 * MIB), 0), (layout.split, true),
	      (layout.base, 3 * MIB), (layout.files[0], 3 * MIB), (layout.bytes, MIB));
	layout_close(&layout);
}

TEST(part_begins_where_an_atomic_write_can)
{
	const uint64_t bytes[] = {0};
	const struct layout_request request = {REGION_SPLIT, 1, 3, 8, false, bytes, 1};

	EQUAL((layout_open(&layout, &request, 100), 0), (layout.files[0], 32),
	      (layout.sizes[0], 32));
	layout_close(&layout);
}

TEST(jobs_share_the_region_where_parts_are_too_small)
{
	const uint64_t bytes[] = {4 * MIB};
	const struct layout_request request = {REGION_AUTO, 3, 4, 8, false, bytes, 1};

	EQUAL((layout_open(&layout, &request, 4 * MIB), 0), (layout.split, false),
	      (layout.files[0], 0));
	layout_close(&layout);
}

TEST(jobs_that_are_placed_share_the_region)
{
	const uint64_t bytes[] = {MIB};
	const struct layout_request request = {REGION_AUTO, 1, 4, 8, true, bytes, 1};

	EQUAL((layout_open(&layout, &request, 4 * MIB), 0), (layout.split, false),
	      (layout.base, 0));
	layout_close(&layout);
}

TEST(shared_is_followed)
{
	const uint64_t bytes[] = {MIB};
	const struct layout_request request = {REGION_SHARED, 1, 4, 8, false, bytes, 1};

	EQUAL((layout_open(&layout, &request, 4 * MIB), 0), (layout.files[0], 0));
	layout_close(&layout);
}

TEST(what_does_not_fit_is_refused_with_both_sizes)
{
	const uint64_t bytes[] = {MIB, MIB + 1};
	const struct layout_request whole = {REGION_SHARED, 0, 1, 8, false, bytes, 2};
	const struct layout_request part = {REGION_SPLIT, 0, 2, 8, false, bytes, 2};

	EQUAL((layout_open(&layout, &whole, 2 * MIB), -ENOSPC),
	      (failure_get()->text, HAS("2097153 B")), (failure_get()->text, HAS("2 MiB")),
	      (layout_open(&layout, &part, 4 * MIB), -ENOSPC),
	      (failure_get()->text, HAS("region=shared")));
}

TEST(sizes_beyond_all_numbers_are_refused)
{
	const uint64_t bytes[] = {UINT64_MAX - 4, UINT64_MAX - 4};
	const struct layout_request request = {REGION_AUTO, 0, 1, 8, false, bytes, 2};

	assert_int_equal(layout_open(&layout, &request, MIB), -ENOSPC);
}

TEST(more_files_than_the_region_has_room_for_are_refused)
{
	const uint64_t bytes[3] = {0};
	const struct layout_request request = {REGION_AUTO, 0, 1, 8, false, bytes, 3};

	assert_int_equal(layout_open(&layout, &request, 16), -ENOSPC);
}
