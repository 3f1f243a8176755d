/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_counters.c -- the counters of a device from a tree of files, and what
 * was counted between two looks at it.
 */
#include "common/json/counters.h"
#include "tests/lib/scratch_root.h"

#define PORT "sys/class/infiniband/mlx5_0/ports/1/"

static json_t *look(void)
{
	json_t *counters;

	counters = counters_read(&root, "mlx5_0");
	return counters;
}

/* The change of one counter that went from a text to another; -1: left out. */
static json_int_t moved(const char *before, const char *after)
{
	const json_t *value;
	json_int_t counted = -1;
	json_t *first, *between;

	scratch_write(PORT "counters/other", "0\n");
	scratch_write(PORT "counters/x", before);
	first = look();
	scratch_write(PORT "counters/x", after);
	between = counters_between(first, look());
	value = json_object_get(between, "1/counters/x");
	if (value != NULL)
		counted = json_integer_value(value);
	json_decref(between);
	return counted;
}

ROOT_TEST(both_folders_of_each_port_are_read)
{
	json_auto_t *counters = NULL;

	scratch_write(PORT "counters/port_xmit_data", "17\n");
	scratch_write(PORT "hw_counters/rnr_nak_retry_err", "3\n");
	scratch_write("sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "5\n");
	counters = look();
	EQUAL((json_object_size(counters), 3),
	      (json_integer_value(json_object_get(counters, "1/counters/port_xmit_data")), 17),
	      (json_integer_value(json_object_get(counters, "1/hw_counters/rnr_nak_retry_err")), 3),
	      (json_integer_value(json_object_get(counters, "2/counters/port_xmit_data")), 5));
}

ROOT_TEST(a_device_without_counters_has_none)
{
	assert_null(look());
	scratch_write(PORT "state", "4: ACTIVE\n");
	EQUAL((look(), NULL), (counters_between(NULL, NULL), NULL),
	      (counters_between(json_object(), NULL), NULL),
	      (counters_between(NULL, json_object()), NULL));
}

ROOT_TEST(what_is_no_count_is_left_out)
{
	static const char *const texts[] = {
		"", "\n", "N/A (no PMA)\n", "-5\n", "0x10\n", "12 34\n", "99999999999999999999\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *counters;

		scratch_write(PORT "counters/bad", texts[i]);
		scratch_write(PORT "counters/good", "1\n");
		counters = look();
		if (json_object_size(counters) != 1)
			fail_msg("\"%s\" was taken for a number", texts[i]);
		json_decref(counters);
	}
}

/* lifespan is how often the driver renews the others */
ROOT_TEST(a_setting_is_no_counter)
{
	scratch_write(PORT "hw_counters/lifespan", "10\n");
	assert_null(look());
}

ROOT_TEST(the_difference_is_what_was_counted)
{
	EQUAL((moved("10\n", "17\n"), 7), (moved("10\n", "10\n"), 0));
	/* 2^53 and what follows it are different numbers */
	EQUAL((moved("9007199254740992\n", "9007199254740993\n"), 1),
	      (moved("0\n", "4611686018427387903\n"), 4611686018427387903));
}

ROOT_TEST(a_counter_may_go_round)
{
	EQUAL((moved("4294967290\n", "4\n"), 10), (moved("18446744073709551610\n", "4\n"), 10));
}

ROOT_TEST(a_counter_that_was_reset_is_left_out)
{
	EQUAL((moved("1000\n", "4\n"), -1), (moved("5000000000\n", "4\n"), -1));
}

ROOT_TEST(a_counter_that_came_or_went_is_left_out)
{
	char path[PATH_MAX];
	json_t *before, *between;

	scratch_write(PORT "counters/gone", "1\n");
	scratch_write(PORT "counters/stays", "1\n");
	before = look();
	assert_int_equal(unlink(scratch_path(PORT "counters/gone", path)), 0);
	scratch_write(PORT "counters/new", "1\n");
	between = counters_between(before, look());
	EQUAL((json_object_size(between), 1),
	      (json_integer_value(json_object_get(between, "1/counters/stays")), 0));
	assert_non_null(json_object_get(between, "1/counters/stays"));
	json_decref(between);
}
