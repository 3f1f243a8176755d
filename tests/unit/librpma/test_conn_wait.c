/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conn_wait.c -- the shared completion channel: rpma_conn_get_compl_fd(), rpma_conn_wait(). */
#include "world.h"

TEST(get_compl_fd__gives_the_shared_channel, setup_shared_conn, teardown)
{
	int fd = -1;

	expect(0, rpma_conn_get_compl_fd(w.conn, &fd));
	assert_int_equal(fd, provider.cqs[0]->channel->fd);
}

TEST(get_compl_fd__needs_a_shared_channel, setup_conn, teardown)
{
	int fd = 77;

	expect(RPMA_E_NOT_SHARED_CHNL, rpma_conn_get_compl_fd(w.conn, &fd));
	assert_int_equal(fd, 77);
}

TEST(wait__says_which_cq_has_something, setup_shared_conn, teardown)
{
	struct rpma_cq *expected[2], *cq;
	bool is_rcq;

	expect(0, rpma_conn_get_cq(w.conn, &expected[0]));
	expect(0, rpma_conn_get_rcq(w.conn, &expected[1]));
	for (unsigned i = 0; i < 2; i++) {
		provider_queue_cq_event(provider.cqs[i]);
		expect(0, rpma_conn_wait(w.conn, 0, &cq, &is_rcq));
		assert_ptr_equal(cq, expected[i]);
		assert_int_equal(is_rcq, i);
		assert_ptr_equal(provider.req_notify_cq.cq, provider.cqs[i]); /* armed again */
		assert_int_equal(provider.req_notify_cq.solicited_only, 0);
	}
}

TEST(wait__need_not_say_whether_it_is_the_rcq, setup_shared_conn, teardown)
{
	struct rpma_cq *cq;

	provider_queue_cq_event(provider.cqs[1]);
	expect(0, rpma_conn_wait(w.conn, 0, &cq, NULL));
}

TEST(wait__needs_a_shared_channel, setup_conn, teardown)
{
	struct rpma_cq *cq = UNTOUCHED;

	expect(RPMA_E_NOT_SHARED_CHNL, rpma_conn_wait(w.conn, 0, &cq, NULL));
	assert_ptr_equal(cq, UNTOUCHED);
}

TEST(wait__says_that_there_is_nothing, setup_shared_conn, teardown)
{
	static const int errnums[] = {EAGAIN, EINTR, EIO};
	struct rpma_cq *cq = UNTOUCHED;

	for (size_t i = 0; i < ARRAY_LENGTH(errnums); i++) {
		calls_fail_on("ibv_get_cq_event", errnums[i]);
		expect(RPMA_E_NO_COMPLETION, rpma_conn_wait(w.conn, 0, &cq, NULL));
	}
	assert_ptr_equal(cq, UNTOUCHED);
}

TEST(wait__acks_the_event_of_an_unknown_cq, setup_shared_conn, teardown)
{
	struct rpma_cq *cq = UNTOUCHED;

	provider_queue_foreign_cq_event(provider.cqs[0]->channel);
	expect(RPMA_E_UNKNOWN, rpma_conn_wait(w.conn, 0, &cq, NULL));
	assert_ptr_equal(cq, UNTOUCHED);
	reference_leaks(unacked_cq_events, 1, "it never acks it: destroying the CQ would hang");
	assert_int_equal(provider.live.unacked_cq_events, 0);
}

TEST(wait__says_that_the_cq_cannot_be_armed, setup_shared_conn, teardown)
{
	struct rpma_cq *cq = UNTOUCHED;

	provider_queue_cq_event(provider.cqs[0]);
	calls_fail_on("ibv_req_notify_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_conn_wait(w.conn, 0, &cq, NULL));
	assert_int_equal(provider.live.unacked_cq_events, DIFFERS(1, 0, "one by one"));
}
