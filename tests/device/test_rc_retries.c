/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rc_retries.c -- requests that are tried again: at a peer without a receive, and at one that
 * does not answer.
 */
#include "pair.h"

OWN_PAIR_TEST(no_receive__ends_when_the_retries_do)
{
	PAIR_MAKE(o.rnr_retry = 2, o.min_rnr_timer = 1);
	post(work(IBV_WR_SEND, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	end_expect_error(&w.near);
	assert_int_equal(far_state(), IBV_QPS_RTS);
}

OWN_PAIR_TEST(no_receive__with_no_retry_ends_at_once)
{
	PAIR_MAKE(o.rnr_retry = 0);
	post(work(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* rnr_retry 7 has no end, whatever came in between. */
OWN_PAIR_TEST(no_receive__waits_with_retry_7)
{
	PAIR_MAKE(o.min_rnr_timer = 1);
	post(work(IBV_WR_SEND, 0, 64, 0));
	for (int i = 0; i < 1000; i++) {
		expect_no_wc(w.near.cq);
		assert_int_equal(end_state(&w.near), IBV_QPS_RTS);
	}
	far_recv(2, 0, 64);
	EXPECT_WC(w.near.cq, 1, IBV_WC_SUCCESS);
	far_expect(2, IBV_WC_SUCCESS);
}

/* A peer that does not answer is found out after the retries. */
static void pair_of_few_retries(void)
{
	PAIR_MAKE(o.timeout = 12, o.retry_cnt = 2);
}

OWN_PAIR_TEST(peer__in_error_does_not_answer)
{
	pair_of_few_retries();
	far_to_error();
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	expect_code(EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR), 18);
	end_expect_error(&w.near);
}

OWN_PAIR_TEST(peer__without_its_qp_does_not_answer)
{
	pair_of_few_retries();
	recv_near(2, 0, 64);
	far_destroy_qp();
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR);
	EXPECT_WC(w.near.cq, 2, IBV_WC_WR_FLUSH_ERR);
}

TWO_PROCESSES_TEST(peer__killed_does_not_answer)
{
	done(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	far_die();
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	struct ibv_wc wc = next_wc(w.near.cq);
	assert_int_equal(wc.wr_id, 1);
	/* a device may have noticed before the request */
	assert_true(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
	end_expect_error(&w.near);
}

/* Only the RNR retry count has 7 for no limit (IBA 9.9.2.1.1). */
OWN_PAIR_TEST(peer__in_error_ends_seven_retries)
{
	NOT_ON_RXE("it takes a retry_cnt of 7 for no end");
	PAIR_MAKE(o.retry_cnt = 7, o.timeout = 12);
	far_to_error();
	post(work(IBV_WR_RDMA_WRITE, 0, 64, 0));
	EXPECT_WC(w.near.cq, 1, IBV_WC_RETRY_EXC_ERR);
}
