/* SPDX-License-Identifier: BSD-3-Clause */
/* test_room.c -- waits for room in a send queue whose slots are counted, and for nothing. */
#include "pipeline.h"

/* Completions that the library asked for end no wait, unless an operation wants their room. */
TEST(its_completions__do_not_end_a_wait, setup_nothing, teardown)
{
	struct ibv_wc wc;

	connect_with(2, 1, 8);
	post(1, ON_ERROR);
	complete(1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 1));
	post(2, ON_ERROR);
	post(3, ON_ERROR);
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(4, ON_ERROR));
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 1)); /* no room yet */
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	expect(RPMA_E_AGAIN, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, -1));
	assert_string_equal(rpma_err_text(), "the send queue has room again");
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 1)); /* told once */
	post(4, ON_ERROR);
}

/* The operation was posted in between, so that nothing waits for room. */
TEST(a_wait__knows_that_room_was_used, setup_nothing, teardown)
{
	struct ibv_wc wc;

	connect_with(2, 1, 8);
	post(1, ON_ERROR);
	post(2, ON_ERROR);
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(3, ON_ERROR));
	complete(1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	assert_fetched("");
	post(3, ALWAYS);
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 1));
}

TEST(a_wait__that_nothing_can_end_is_refused, setup_nothing, teardown)
{
	struct ibv_wc wc;

	connect_with(8, 4, 8);
	post(1, ON_ERROR);
	expect(RPMA_E_INVAL, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, -1));
	assert_non_null(strstr(rpma_err_text(), "no operation under way leaves a completion"));
	post(2, ALWAYS | RPMA_F_MORE);
	complete(2, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	expect(0, rpma_submit(w.conn));
	expect(0, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, -1));
	post(3, MORE);
	expect(RPMA_E_INVAL, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, -1));
	assert_non_null(strstr(rpma_err_text(), "operations wait for rpma_submit()"));
	/* time ends it, or a message */
	expect(RPMA_E_TIMEOUT, rpma_cq_await_wc(w.cq, 1, &wc, NULL, 0, 1));
}

/* The CQ has an entry for each of them, so no more are posted until some are fetched. */
TEST(receives__do_not_overrun_the_queue, setup_cfg, teardown)
{
	set(RPMA_CONN_OPT_SQ_SIZE, 4);
	set(RPMA_CONN_OPT_RQ_SIZE, 2);
	make_req();
	make_conn();
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	expect(RPMA_E_AGAIN, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	complete(1, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_fetched("1 ");
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	expect(RPMA_E_AGAIN, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	/* one that could not be posted takes no entry */
	complete(2, IBV_WC_SUCCESS, IBV_WC_RECV);
	assert_fetched("2 ");
	calls_fail_on("ibv_post_recv", ENOMEM);
	expect(RPMA_E_PROVIDER, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	assert_int_equal(rpma_err_errno(), ENOMEM);
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
}

/* The default, where the program leaves it open. */
TEST(slots__are_counted_where_the_queue_is_sized, setup_cfg, teardown)
{
	uint32_t every = 77;

	set(RPMA_CONN_OPT_SQ_SIZE, 6);
	make_req();
	make_conn();
	expect(0, rpma_conn_get_option(w.conn, RPMA_CONN_OPT_SIGNAL_EVERY, &every));
	assert_int_equal(every, 3);
	for (uint64_t i = 1; i <= 6; i++)
		post(i, ON_ERROR);
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(7, ON_ERROR));
	EQUAL((rpma_err_text(), HAS("the send queue is full")), (rpma_err_errno(), 0));
}

/* Their slots are free again, and the next ones are counted as if they had never been. */
TEST(what_waits__can_be_discarded, setup_nothing, teardown)
{
	size_t count = 77;

	connect_with(6, 2, 8);
	post(1, MORE);
	post(2, MORE);
	post(3, MORE);
	provider.send_fails_at = 2;
	expect(RPMA_E_PROVIDER, rpma_submit(w.conn));
	assert_got(1, "1 ");
	expect(0, rpma_discard(w.conn, &count));
	assert_int_equal(count, 2);
	expect(0, rpma_discard(w.conn, &count));
	assert_int_equal(count, 0);
	expect(0, rpma_submit(w.conn));
	for (uint64_t i = 4; i <= 8; i++)
		post(i, ON_ERROR);
	assert_got(5, "4! 5 6! 7 8! ");
	expect_named(RPMA_E_AGAIN, "rpma_write", write_8(9, ON_ERROR));
	expect(RPMA_E_INVAL, rpma_discard(NULL, NULL));
}

/* A queue without slots would never have room. */
TEST(slots__need_a_queue, setup_cfg, teardown)
{
	struct rpma_conn_req *req = NULL;

	set(RPMA_CONN_OPT_SQ_SIZE, 0);
	expect(RPMA_E_INVAL, rpma_conn_req_new(w.peer, "192.0.2.1", "7204", w.cfg, &req));
	assert_non_null(strstr(rpma_err_text(), "RPMA_CONN_OPT_SQ_SIZE is 0"));
}

/* A value that the queue has no use for is not what is read back. */
TEST(slots__are_counted_as_often_as_is_told, setup_nothing, teardown)
{
	uint32_t every = 77;

	connect_with(16, 4000, 8);
	expect(0, rpma_conn_get_option(w.conn, RPMA_CONN_OPT_SIGNAL_EVERY, &every));
	assert_int_equal(every, 8);
}
