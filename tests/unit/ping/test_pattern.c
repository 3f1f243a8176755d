/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pattern.c -- the two patterns of a ping, and where bytes differ.
 */
#include <string.h>

#include "tests/lib/test.h"
#include "tools/rpma-ping/pattern.h"

static void every_byte_differs_from_the_other_pattern(void **state)
{
	static const size_t sizes[] = {1, 7, 8, 9, 64, 4097};
	uint8_t even[4097], odd[4097];

	for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		pattern_fill(even, odd, sizes[n], 42);
		for (size_t i = 0; i < sizes[n]; i++)
			assert_int_equal(even[i] ^ odd[i], 0xff);
	}
}

static void no_byte_is_written_beyond_the_size(void **state)
{
	uint8_t even[8] = {0}, odd[8] = {0};

	pattern_fill(even, odd, 7, 1);
	assert_int_equal(even[7], 0);
	assert_int_equal(odd[7], 0);
}

/* What another run left in the same place must not pass for what this one wrote. */
static void another_salt_is_another_pattern(void **state)
{
	uint8_t one[64], two[64], odd[64];

	pattern_fill(one, odd, sizeof(one), 1);
	pattern_fill(two, odd, sizeof(two), 2);
	assert_memory_not_equal(one, two, sizeof(one));
}

static void differences_are_counted_and_the_first_is_shown(void **state)
{
	uint8_t expected[100], found[100];
	struct pattern_difference d;

	for (size_t i = 0; i < sizeof(expected); i++)
		expected[i] = (uint8_t)i;
	memcpy(found, expected, sizeof(found));
	d = pattern_compare(found, expected, sizeof(found));
	assert_int_equal(d.bytes, 0);
	found[17] = 0xee;
	found[99] = 0xef;
	d = pattern_compare(found, expected, sizeof(found));
	assert_int_equal(d.bytes, 2);
	assert_int_equal(d.first, 17);
	assert_int_equal(d.expected, 17);
	assert_int_equal(d.found, 0xee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_differs_from_the_other_pattern),
		cmocka_unit_test(no_byte_is_written_beyond_the_size),
		cmocka_unit_test(another_salt_is_another_pattern),
		cmocka_unit_test(differences_are_counted_and_the_first_is_shown),
	};

	return cmocka_run_group_tests_name("ping.pattern", tests, NULL, NULL);
}
