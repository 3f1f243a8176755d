/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_refuse.c -- the faults refuse and unreachable: which attempts to connect they hit.
 */
#include "tests/unit/soft/fault_test.h"

static void each_hits_its_attempts(void **state)
{
	use_faults("refuse:at=1 unreachable:every=2");
	assert_int_equal(fault_connect(), CONNECT_REFUSED);
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
	assert_int_equal(fault_connect(), CONNECT_ALLOWED);
}

static void the_first_that_hits_decides(void **state)
{
	use_faults("unreachable refuse");
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
	use_faults("refuse unreachable");
	assert_int_equal(fault_connect(), CONNECT_REFUSED);
}

static void wrong_words_are_refused(void **state)
{
	ASSERT_REFUSED("refuse:", "refuse:at=1,every=2", "unreachable:now", "unreachable:op=read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_hits_its_attempts),
		cmocka_unit_test(the_first_that_hits_decides),
		cmocka_unit_test(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
