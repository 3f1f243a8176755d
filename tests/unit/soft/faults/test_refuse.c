/* SPDX-License-Identifier: BSD-3-Clause */
/* test_refuse.c -- the faults refuse and unreachable: which attempts to connect they hit. */
#include "tests/unit/soft/fault_test.h"

TEST(each_hits_its_attempts)
{
	use_faults("refuse:at=1 unreachable:every=2");
	assert_int_equal(fault_connect(), CONNECT_REFUSED);
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
	assert_int_equal(fault_connect(), CONNECT_ALLOWED);
}

TEST(the_first_that_hits_decides)
{
	use_faults("unreachable refuse");
	assert_int_equal(fault_connect(), CONNECT_UNREACHABLE);
	use_faults("refuse unreachable");
	assert_int_equal(fault_connect(), CONNECT_REFUSED);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("refuse:", "refuse:at=1,every=2", "unreachable:now", "unreachable:op=read");
}
