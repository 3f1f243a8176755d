/* SPDX-License-Identifier: BSD-3-Clause */
/* test_register.c -- the fault register: which registrations fail, and with what. */
#include "tests/unit/soft/fault_test.h"

TEST(it_fails_with_its_errno)
{
	use_faults("register:at=2,errno=EOPNOTSUPP");
	assert_int_equal(fault_register(), 0);
	assert_int_equal(fault_register(), EOPNOTSUPP);
	assert_int_equal(fault_register(), 0);
	use_faults("register:at=1");
	assert_int_equal(fault_register(), ENOMEM);
}

TEST(the_first_that_hits_decides)
{
	use_faults("register:at=2,errno=EACCES register:errno=EIO");
	assert_int_equal(fault_register(), EIO);
	assert_int_equal(fault_register(), EACCES);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("register:at=1,errno=12", "register:errno=ENOSUCH", "register:errno=");
}
