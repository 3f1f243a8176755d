/* SPDX-License-Identifier: BSD-3-Clause */
/* test_call.c -- the fault call: which calls fail, and with which errno. */
#include "tests/unit/soft/fault_test.h"

TEST(a_call_fails_with_its_errno)
{
	use_faults("call:name=rdma_listen,errno=EADDRINUSE call:name=ibv_reg_mr");
	assert_int_equal(fault_call_slow("rdma_listen"), EADDRINUSE);
	assert_int_equal(fault_call_slow("ibv_reg_mr"), ENOMEM);
	assert_int_equal(fault_call_slow("ibv_create_cq"), 0);
}

TEST(only_calls_of_the_name_count)
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

TEST(a_hook_names_its_function)
{
	use_faults("");
	assert_int_equal(a_call(), 0);
	use_faults("call:name=ibv_poll_cq");
	assert_int_equal(a_call(), 0);
	assert_int_equal(FAULT_CALL_AS("ibv_poll_cq"), ENOMEM);
	use_faults("call:at=1,errno=EIO");
	assert_int_equal(a_call(), EIO);
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("call:name=malloc", "call:name=ibv_Reg", "call:name=ibv_reg_mr()",
		       "call:name=", "call:errno=0");
}
