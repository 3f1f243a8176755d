/* SPDX-License-Identifier: BSD-3-Clause */
/* test_complete.c -- the fault complete: which operations fail, and with which status. */
#include "tests/unit/soft/fault_test.h"

TEST(the_nth_of_the_named_operations_fails)
{
	use_faults("complete:op=write,at=2,status=REM_ACCESS_ERR");
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_SUCCESS);
	assert_int_equal(fault_complete(SOFT_OP_READ), IBV_WC_SUCCESS);
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_SUCCESS);
}

TEST(the_first_that_hits_decides)
{
	use_faults("complete:status=GENERAL_ERR complete:status=FATAL_ERR");
	assert_int_equal(fault_complete(SOFT_OP_WRITE), IBV_WC_GENERAL_ERR);
}

TEST(every_name_of_a_status_is_the_one_of_verbs)
{
	/* ibv_poll_cq(3) numbers them by their order */
	static const char *const names[] = {
		"LOC_LEN_ERR",	     "LOC_QP_OP_ERR",	  "LOC_EEC_OP_ERR",	"LOC_PROT_ERR",
		"WR_FLUSH_ERR",	     "MW_BIND_ERR",	  "BAD_RESP_ERR",	"LOC_ACCESS_ERR",
		"REM_INV_REQ_ERR",   "REM_ACCESS_ERR",	  "REM_OP_ERR",		"RETRY_EXC_ERR",
		"RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",  "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR",
		"INV_EECN_ERR",	     "INV_EEC_STATE_ERR", "FATAL_ERR",		"RESP_TIMEOUT_ERR",
		"GENERAL_ERR",
	};
	char word[SOFT_WORD_MAX];

	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++) {
		snprintf(word, sizeof(word), "complete:status=%s", names[i]);
		use_faults(word);
		assert_int_equal(fault_complete(SOFT_OP_RECV), i + 1);
	}
}

TEST(wrong_words_are_refused)
{
	ASSERT_REFUSED("complete", "complete:at=1", "complete:status=SUCCESS",
		       "complete:status=rem_access_err", "complete:status=10", "complete:status=");
}
