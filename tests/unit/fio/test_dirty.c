/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_dirty.c -- extents out of what was marked, compared with a byte for
 * each byte of the region.
 */
#include "fio_engine/io_queue.h"
#include "tests/lib/test.h"

static struct dirty dirty;

static void open_region(uint64_t bytes, uint64_t grain)
{
	assert_int_equal(dirty_open(&dirty, bytes, grain), 0);
}

static void takes(uint64_t begin, uint64_t end)
{
	struct extent extent = {0, 0};

	EQUAL((dirty_take(&dirty, &extent), true), (extent.begin, begin), (extent.end, end));
}

/* Behind each test. */
static int takes_no_more(void **state)
{
	struct extent extent;

	EQUAL((dirty_any(&dirty), false), (dirty_take(&dirty, &extent), false));
	dirty_close(&dirty);
	return 0;
}

TEST(an_extent_ends_with_the_region, NULL, takes_no_more)
{
	open_region(4100, 4096);
	dirty_mark(&dirty, 4096, 4100);
	takes(4096, 4100);
}

TEST(an_empty_range_marks_nothing, NULL, takes_no_more)
{
	open_region(4096, 8);
	dirty_mark(&dirty, 8, 8);
}

TEST(clearing_leaves_nothing, NULL, takes_no_more)
{
	open_region(1 << 20, 8);
	dirty_mark(&dirty, 0, 4096);
	dirty_mark(&dirty, 1 << 19, (1 << 19) + 4096);
	dirty_clear(&dirty);
	assert_false(dirty_any(&dirty));
	dirty_mark(&dirty, 8192, 8200);
	takes(8192, 8200);
}

/* 3000 is 8 times 375. */
TEST(a_grain_need_not_be_a_power_of_two, NULL, takes_no_more)
{
	open_region(1 << 20, 3000);
	dirty_mark(&dirty, 3000, 6000);
	takes(3000, 6000);
	takes_no_more(NULL);
	open_region(64, 0);
	dirty_mark(&dirty, 3, 4);
	takes(3, 4);
}

/* A pebibyte would have 2^47 grains of 8 bytes: extents are rounded outwards. */
TEST(a_vast_region_has_larger_grains, NULL, takes_no_more)
{
	const uint64_t bytes = 1ULL << 50, grain = bytes / DIRTY_BITS_MAX;

	open_region(bytes, 8);
	dirty_mark(&dirty, bytes - 8, bytes);
	dirty_mark(&dirty, grain + 8, grain + 16);
	takes(grain, 2 * grain);
	takes(bytes - grain, bytes);
}

/* --- against an array of bytes -------------------------------------------------- */

#define MODEL_BYTES 20000

static void model_takes(uint8_t *model)
{
	uint64_t begin = 0, end;

	while (begin < MODEL_BYTES && model[begin] == 0)
		begin++;
	if (begin == MODEL_BYTES) {
		struct extent extent;

		assert_false(dirty_take(&dirty, &extent));
		return;
	}
	for (end = begin; end < MODEL_BYTES && model[end] != 0; end++)
		model[end] = 0;
	takes(begin, end);
}

static void model_step(uint8_t *model, uint64_t grain, uint64_t *seed)
{
	uint64_t begin = test_random(seed) % (MODEL_BYTES / grain) * grain;
	uint64_t most = test_random(seed) % 8 == 0 ? 6000 : 200;
	uint64_t end = begin + (test_random(seed) % (most / grain + 1) + 1) * grain;

	if (test_random(seed) % 3 == 0) {
		model_takes(model);
		return;
	}
	end = end < MODEL_BYTES ? end : MODEL_BYTES;
	dirty_mark(&dirty, begin, end);
	memset(model + begin, 1, end - begin);
}

TEST(any_sequence_gives_what_a_byte_array_gives)
{
	static const uint64_t grains[] = {1, 4, 8, 32, 160};
	static uint8_t model[MODEL_BYTES];

	for (uint64_t run = 0; run < 50; run++) {
		uint64_t grain = grains[run % 5], seed = run;

		open_region(MODEL_BYTES, grain);
		memset(model, 0, sizeof(model));
		for (int step = 0; step < 400; step++) {
			model_step(model, grain, &seed);
			assert_int_equal(dirty_any(&dirty), memchr(model, 1, MODEL_BYTES) != NULL);
		}
		while (dirty_any(&dirty))
			model_takes(model);
		assert_null(memchr(model, 1, MODEL_BYTES));
		dirty_close(&dirty);
	}
}
