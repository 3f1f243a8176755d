/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_call.c -- the fault call: which calls fail, and with which errno.
 */
#include "tests/unit/soft/fault_test.h"

static void a_call_fails_with_its_errno(void **state)
{
	use_faults("call:name=rdma_listen,errno=EADDRINUSE call:name=ibv_reg_mr");
	assert_int_equal(fault_call_slow("rdma_listen"), EADDRINUSE);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), ENOMEM);
	assert_int_equal(fault_call_slow("ibv_create_cq"), 0);
}

static void only_calls_of_the_name_count(void **state)
{
	use_faults("call:name=ibv_reg_mr,at=2");
	assert_int_equal(fault_call_slow("ibv_alloc_pd"), 0);
	assert_int_equal(fault_call_slow("ibv_alloc_pd"), 0);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), 0);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), ENOMEM);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), 0);
}

static int a_call(void)
{
	return FAULT_CALL();
}

static void a_hook_names_its_function(void **state)
{
	use_faults("");
	assert_int_equal(a_call(), 0);
	use_faults("call:name=ibv_poll_cq");
	assert_int_equal(a_call(), 0);
	assert_int_equal(FAULT_CALL_AS("ibv_poll_cq"), ENOMEM);
	use_faults("call:at=1,errno=EIO");
	assert_int_equal(a_call(), EIO);
}

static void wrong_words_are_refused(void **state)
{
	ASSERT_REFUSED("call:name=malloc", "call:name=ibv_Reg", "call:name=ibv_reg_mr()",
		       "call:name=", "call:errno=0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_fails_with_its_errno),
		cmocka_unit_test(only_calls_of_the_name_count),
		cmocka_unit_test(a_hook_names_its_function),
		cmocka_unit_test(wrong_words_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
