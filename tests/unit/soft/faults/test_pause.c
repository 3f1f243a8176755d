/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pause.c -- the fault pause: which operations wait, and until when.
 */
#include "tests/unit/soft/fault_test.h"

static void operations_wait_for_the_end_of_the_pause(void **state)
{
	use_faults("pause:time=10us,period=100us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 300000), 310000);
	assert_int_equal(fault_due_ns(SOFT_OP_READ, 8, 309999), 310000);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 310000), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 399999), 0);
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 400001), 410000);
}

static void a_delay_may_end_in_a_pause(void **state)
{
	use_faults("delay:time=5us pause:period=100us,time=10us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 396000), 410000);
	use_faults("pause:period=100us,time=10us delay:time=5us");
	assert_int_equal(fault_due_ns(SOFT_OP_WRITE, 8, 396000), 401000);
}

static void it_leaves_operations_whole(void **state)
{
	use_faults("pause:time=10us,period=100us");
	assert_true(fault_any && fault_only_delays());
}

static void wrong_words_are_refused(void **state)
{
	ASSERT_REFUSED("pause", "pause:time=1ms", "pause:period=1s", "pause:time=2ms,period=1ms",
		       "pause:time=1ms,period=1ms", "pause:time=0ns,period=1ms",
		       "pause:time=1ms,period=1ms,at=1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_wait_for_the_end_of_the_pause),
		cmocka_unit_test(a_delay_may_end_in_a_pause),
		cmocka_unit_test(it_leaves_operations_whole),
		cmocka_unit_test(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
