/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pause.c -- the fault pause: which operations wait, and until when. */
#include "tests/unit/soft/fault_test.h"

TEST(operations_wait_for_the_end_of_the_pause)
{
	use_faults("pause:time=10us,period=100us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 300000), 310000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 309999), 310000);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 310000), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 399999), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 400001), 410000);
}

TEST(a_delay_may_end_in_a_pause)
{
	use_faults("delay:time=5us pause:period=100us,time=10us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 396000), 410000);
	use_faults("pause:period=100us,time=10us delay:time=5us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 396000), 401000);
}

TEST(it_leaves_operations_whole)
{
	use_faults("pause:time=10us,period=100us");
	assert_true(fault_any && fault_only_delays());
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("pause", "pause:time=1ms", "pause:period=1s", "pause:time=2ms,period=1ms",
		       "pause:time=1ms,period=1ms", "pause:time=0ns,period=1ms",
		       "pause:time=1ms,period=1ms,at=1");
}
