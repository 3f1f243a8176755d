/* SPDX-License-Identifier: BSD-3-Clause */
/* test_slots.c -- how a target is divided, and who gets which slot. */
#include "tests/lib/test.h"
#include "tools/rpma-ping/server.h"

TEST(slots_are_whole_pages_within_the_target)
{
	static const struct {
		size_t target, size;
		unsigned count;
	} cases[] = {
		{1, 1, 1},
		{4096, 4096, 1},
		{8191, 8191, 1},
		{8192, 4096, 2},
		{15 * 4096 + 5, 4096, 15},
		{16 * 4096, 4096, 16},
		{31 * 4096, 4096, 16},
		{4 << 20, 256 << 10, 16},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned count = 0;
		size_t size = 0;

		slots_divide(cases[i].target, &count, &size);
		EQUAL((count, cases[i].count), (size, cases[i].size));
		assert_true(size * count <= cases[i].target);
	}
}

TEST(a_slot_has_one_client)
{
	struct slots slots = {.count = 2};

	EQUAL((slots_take(&slots), 0), (slots_take(&slots), 1), (slots_take(&slots), -1));
	slots_release(&slots, 0);
	EQUAL((slots_take(&slots), 0), (slots_take(&slots), -1));
}
