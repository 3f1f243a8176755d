/* SPDX-License-Identifier: BSD-3-Clause */
/* test_drop.c -- the fault drop: after which operation of a connection it breaks. */
#include "tests/unit/soft/fault_test.h"

TEST(it_breaks_after_the_first_operations)
{
	use_faults("drop:after=2");
	assert_false(fault_drop(0));
	assert_false(fault_drop(1));
	assert_true(fault_drop(2));
	use_faults("drop:after=0");
	assert_true(fault_drop(0));
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("drop", "drop:at=3", "drop:after=", "drop:after=-1");
}
