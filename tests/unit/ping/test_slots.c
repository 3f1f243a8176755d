/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_place.c -- how a target is divided, and who gets which place.
 */
#include "tests/lib/test.h"
#include "tools/rpma-ping/slots.h"

static void places_are_whole_pages_within_the_target(void **state)
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

		places_divide(cases[i].target, &count, &size);
		assert_int_equal(count, cases[i].count);
		assert_int_equal(size, cases[i].size);
		assert_true(size * count <= cases[i].target);
	}
}

static void a_place_has_one_client(void **state)
{
	struct places places = {.count = 2};

	assert_int_equal(places_take(&places), 0);
	assert_int_equal(places_take(&places), 1);
	assert_int_equal(places_take(&places), -1);
	places_give(&places, 0);
	assert_int_equal(places_take(&places), 0);
	assert_int_equal(places_take(&places), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_whole_pages_within_the_target),
		cmocka_unit_test(a_place_has_one_client),
	};

	return cmocka_run_group_tests_name("ping.place", tests, NULL, NULL);
}
