/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cq.c -- waiting for completions and taking them. */
#include "every_call_fails.h"

#include <poll.h>

/* --- rpma_cq_get_fd() ---------------------------------------------------- */

TEST(get_fd__is_readable_on_an_event, setup_conn, teardown)
{
	struct pollfd pollfd = {.events = POLLIN};

	expect(0, rpma_cq_get_fd(w.cq, &pollfd.fd));
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	provider_queue_cq_event(provider.cqs[0]);
	assert_int_equal(poll(&pollfd, 1, 0), 1);
}

/* --- rpma_cq_wait() ------------------------------------------------------ */

TEST(wait__acks_and_arms_again, setup_conn, teardown)
{
	unsigned armed = calls_count("ibv_req_notify_cq");

	provider_queue_cq_event(provider.cqs[0]);
	expect(0, rpma_cq_wait(w.cq));
	/* ours acknowledges many at once */
	EQUAL((provider.live.unacked_cq_events, DIFFERS(1, 0, "one by one")),
	      (calls_count("ibv_req_notify_cq"), armed + 1));
	assert_ptr_equal(provider.req_notify_cq.cq, provider.cqs[0]);
	assert_int_equal(provider.req_notify_cq.solicited_only, 0);
}

TEST(wait__says_that_there_is_nothing, setup_conn, teardown)
{
	static const int errnums[] = {EAGAIN, EINTR, EIO};

	for (size_t i = 0; i < ARRAY_LENGTH(errnums); i++) {
		calls_fail_on("ibv_get_cq_event", errnums[i]);
		expect(RPMA_E_NO_COMPLETION, rpma_cq_wait(w.cq));
	}
	assert_int_equal(logged[RPMA_LOG_LEVEL_ERROR], 0);
}

TEST(wait__says_that_the_cq_cannot_be_armed, setup_conn, teardown)
{
	provider_queue_cq_event(provider.cqs[0]);
	calls_fail_on("ibv_req_notify_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_wait(w.cq));
	assert_int_equal(provider.live.unacked_cq_events, DIFFERS(1, 0, "one by one"));
}

/* It takes a mutex, and wakes who waits for it; the rest comes before the CQ is destroyed. */
TEST(wait__acks_many_at_once, setup_conn, teardown)
{
	OURS_ONLY("it acknowledges one by one");
	for (unsigned i = 0; i < 130; i++) {
		provider_queue_cq_event(provider.cqs[0]);
		expect(0, rpma_cq_wait(w.cq));
	}
	EQUAL((calls_count("ibv_ack_cq_events"), 2), (provider.live.unacked_cq_events, 2));
	expect(0, rpma_conn_delete(&w.conn));
	assert_int_equal(provider.live.unacked_cq_events, 0);
}

TEST(wait__cannot_use_a_shared_channel, setup_shared_conn, teardown)
{
	provider_queue_cq_event(provider.cqs[0]);
	expect(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(w.cq));
	assert_int_equal(calls_count("ibv_get_cq_event"), 0);
}

/* --- rpma_cq_get_wc() ---------------------------------------------------- */

static void queue_wcs(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		provider_queue_wc(provider.cqs[0],
				  &(struct ibv_wc){.wr_id = i, .status = IBV_WC_WR_FLUSH_ERR});
}

TEST(get_wc__gives_one, setup_conn, teardown)
{
	struct ibv_wc wc = {.wr_id = 77};

	queue_wcs(2);
	for (unsigned i = 0; i < 2; i++) {
		expect(0, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR); /* no judgement on it */
	}
}

TEST(get_wc__gives_as_many_as_there_are, setup_conn, teardown)
{
	static const struct {
		int asked, got;
	} cases[] = {{2, 2}, {4, 1}};
	struct ibv_wc wc[4];

	queue_wcs(3);
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		int got = 77;

		expect(0, rpma_cq_get_wc(w.cq, cases[i].asked, wc, &got));
		EQUAL((got, cases[i].got), (wc[0].wr_id, 2 * i));
	}
}

TEST(get_wc__counts_a_single_one_if_asked, setup_conn, teardown)
{
	struct ibv_wc wc;
	int got = 77;

	queue_wcs(1);
	expect(0, rpma_cq_get_wc(w.cq, 1, &wc, &got));
	assert_int_equal(got, 1);
}

TEST(get_wc__says_that_there_is_none, setup_conn, teardown)
{
	struct ibv_wc wc;

	expect(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
	assert_int_equal(logged[RPMA_LOG_LEVEL_WARNING] + logged[RPMA_LOG_LEVEL_ERROR], 0);
}

TEST(get_wc__reports_a_failing_poll, setup_conn, teardown)
{
	struct ibv_wc wc;

	calls_fail_on("ibv_poll_cq", EIO);
	expect(RPMA_E_PROVIDER, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
}

TEST(get_wc__does_not_believe_more_than_asked, setup_conn, teardown)
{
	struct ibv_wc wc;

	provider.poll_cq_answer = 2;
	expect(RPMA_E_UNKNOWN, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
}

TEST(get_wc__refuses_bad_arguments, setup_conn, teardown)
{
	struct ibv_wc wc[2];
	int got = 77;

	expect(RPMA_E_INVAL, rpma_cq_get_wc(NULL, 1, wc, &got));
	expect(RPMA_E_INVAL, rpma_cq_get_wc(w.cq, 0, wc, &got));
	expect(RPMA_E_INVAL, rpma_cq_get_wc(w.cq, -1, wc, &got));
	expect(RPMA_E_INVAL, rpma_cq_get_wc(w.cq, 1, NULL, &got));
	expect(RPMA_E_INVAL, rpma_cq_get_wc(w.cq, 2, wc, NULL));
	EQUAL((got, 77), (calls_count("ibv_poll_cq"), 0));
}

TEST(get_wc__reads_the_cq_it_is_asked_of, setup_peer, teardown)
{
	struct rpma_cq *rcq;
	struct ibv_wc wc;

	make_cfg();
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1));
	make_req();
	make_conn();
	expect(0, rpma_conn_get_rcq(w.conn, &rcq));
	provider_queue_wc(provider.cqs[1], &(struct ibv_wc){.wr_id = 5});
	expect(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(w.cq, 1, &wc, NULL));
	expect(0, rpma_cq_get_wc(rcq, 1, &wc, NULL));
	assert_int_equal(wc.wr_id, 5);
}
