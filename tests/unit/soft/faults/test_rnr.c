/* SPDX-License-Identifier: BSD-3-Clause */
/* test_rnr.c -- the fault rnr: how many tries of an operation find no receive. */
#include "tests/unit/soft/fault_test.h"

TEST(it_is_once_unless_times_are_given)
{
	use_faults("rnr:every=2,times=3");
	assert_int_equal(fault_rnr(), 0);
	assert_int_equal(fault_rnr(), 3);
	assert_int_equal(fault_rnr(), 0);
	use_faults("rnr:at=2");
	assert_int_equal(fault_rnr(), 0);
	assert_int_equal(fault_rnr(), 1);
}

TEST(tries_add_up)
{
	use_faults("rnr:at=1 rnr:at=1,times=4");
	assert_int_equal(fault_rnr(), 5);
	use_faults("rnr:at=1,times=4294967295 rnr:at=1");
	assert_int_equal(fault_rnr(), UINT32_MAX);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("rnr:every=0", "rnr:at=0", "rnr:at=0x1", "rnr:times=0",
		       "rnr:at=9223372036854775808", "rnr:times=4294967296");
}
