/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_register.c -- the fault register: which registrations fail, and with what.
 */
#include "tests/unit/soft/fault_test.h"

static void it_fails_with_its_errno(void **state)
{
	use_faults("register:at=2,errno=EOPNOTSUPP");
	assert_int_equal(fault_register(), 0);
	assert_int_equal(fault_register(), EOPNOTSUPP);
	assert_int_equal(fault_register(), 0);
	use_faults("register:at=1");
	assert_int_equal(fault_register(), ENOMEM);
}

static void the_first_that_hits_decides(void **state)
{
	use_faults("register:at=2,errno=EACCES register:errno=EIO");
	assert_int_equal(fault_register(), EIO);
	assert_int_equal(fault_register(), EACCES);
}

static void wrong_words_are_refused(void **state)
{
	ASSERT_REFUSED("register:at=1,errno=12", "register:errno=ENOSUCH", "register:errno=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_fails_with_its_errno),
		cmocka_unit_test(the_first_that_hits_decides),
		cmocka_unit_test(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
