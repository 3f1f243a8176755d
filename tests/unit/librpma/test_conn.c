/* SPDX-License-Identifier: BSD-3-Clause */
/* test_conn.c -- connections: events, private data, queues, the end. */
#include "every_call_fails.h"

#include <poll.h>

/* The id of w.conn. */
static void queue_event(enum rdma_cm_event_type type)
{
	provider_queue_cm_event(provider.id, type, NULL, 0);
}

/* --- rpma_conn_next_event() ---------------------------------------------- */

TEST(next_event__translates, setup_conn, teardown)
{
	static const struct {
		enum rdma_cm_event_type cm_event;
		enum rpma_conn_event event;
	} cases[] = {
		{RDMA_CM_EVENT_ESTABLISHED, RPMA_CONN_ESTABLISHED},
		{RDMA_CM_EVENT_CONNECT_ERROR, RPMA_CONN_LOST},
		{RDMA_CM_EVENT_DEVICE_REMOVAL, RPMA_CONN_LOST},
		{RDMA_CM_EVENT_DISCONNECTED, RPMA_CONN_CLOSED},
		{RDMA_CM_EVENT_TIMEWAIT_EXIT, RPMA_CONN_CLOSED},
		{RDMA_CM_EVENT_REJECTED, RPMA_CONN_REJECTED},
		{RDMA_CM_EVENT_UNREACHABLE, RPMA_CONN_UNREACHABLE},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

		queue_event(cases[i].cm_event);
		expect(0, rpma_conn_next_event(w.conn, &event));
		assert_int_equal(event, cases[i].event);
	}
}

TEST(next_event__does_not_know_every_event, setup_conn, teardown)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;

	queue_event(RDMA_CM_EVENT_ADDR_CHANGE);
	expect(RPMA_E_UNKNOWN, rpma_conn_next_event(w.conn, &event));
	assert_int_equal(event, 77);
	assert_true(logged[RPMA_LOG_LEVEL_WARNING] > 0);
	assert_int_equal(provider.live.unacked_cm_events, 0);
}

TEST(next_event__says_that_nothing_happened, setup_conn, teardown)
{
	static const struct {
		int errnum, ours, reference;
	} cases[] = {
		{ENODATA, RPMA_E_NO_EVENT, RPMA_E_NO_EVENT},
		{EAGAIN, RPMA_E_NO_EVENT, RPMA_E_PROVIDER},
		{EINTR, RPMA_E_NO_EVENT, RPMA_E_PROVIDER},
		{EIO, RPMA_E_PROVIDER, RPMA_E_PROVIDER},
	};

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		enum rpma_conn_event event = (enum rpma_conn_event)77;
		int want = DIFFERS(cases[i].ours, cases[i].reference,
				   "an empty nonblocking channel is a provider error to it");

		logged[RPMA_LOG_LEVEL_ERROR] = 0;
		calls_fail_on("rdma_get_cm_event", cases[i].errnum);
		expect(want, rpma_conn_next_event(w.conn, &event));
		EQUAL((event, 77), (logged[RPMA_LOG_LEVEL_ERROR], want == RPMA_E_PROVIDER));
	}
}

static int next_event(void)
{
	enum rpma_conn_event event = (enum rpma_conn_event)77;
	int ret;

	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "hello", 5);
	ret = rpma_conn_next_event(w.conn, &event);
	assert_int_equal(event, ret == 0 ? (int)RPMA_CONN_ESTABLISHED : 77);
	return ret;
}

SURVIVES(next_event, .function = "rpma_conn_next_event", .setup = setup_conn, .act = next_event)

TEST(get_event_fd__is_readable_when_something_happened, setup_conn, teardown)
{
	struct pollfd pollfd = {.events = POLLIN};

	expect(0, rpma_conn_get_event_fd(w.conn, &pollfd.fd));
	assert_int_equal(poll(&pollfd, 1, 0), 0);
	queue_event(RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(poll(&pollfd, 1, 0), 1);
}

/* --- private data -------------------------------------------------------- */

TEST(private_data__comes_with_established, setup_conn, teardown)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};
	enum rpma_conn_event event;

	expect(0, rpma_conn_get_private_data(w.conn, &pdata));
	EQUAL((pdata.ptr, NULL), (pdata.len, 0));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "hello", 5);
	expect(0, rpma_conn_next_event(w.conn, &event));
	expect(0, rpma_conn_get_private_data(w.conn, &pdata));
	assert_int_equal(pdata.len, 5);
	assert_memory_equal(pdata.ptr, "hello", 5);
}

TEST(private_data__of_the_request_stays, setup_ep, teardown)
{
	struct rpma_conn_private_data pdata;
	enum rpma_conn_event event;

	provider_queue_connect_request("hello", 5);
	expect(0, rpma_ep_next_conn_req(w.ep, NULL, &w.req));
	expect(0, rpma_conn_req_connect(&w.req, NULL, &w.conn));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "other", 5);
	expect(0, rpma_conn_next_event(w.conn, &event));
	expect(0, rpma_conn_get_private_data(w.conn, &pdata));
	assert_memory_equal(pdata.ptr, "hello", 5);
}

TEST(private_data__is_dropped_when_the_ack_fails, setup_conn, teardown)
{
	struct rpma_conn_private_data pdata = {UNTOUCHED, 77};
	enum rpma_conn_event event;

	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "hello", 5);
	calls_fail_on("rdma_ack_cm_event", EIO);
	expect(RPMA_E_PROVIDER, rpma_conn_next_event(w.conn, &event));
	expect(0, rpma_conn_get_private_data(w.conn, &pdata));
	EQUAL((pdata.ptr, NULL), (pdata.len, 0));
}

/* --- getters ------------------------------------------------------------- */

TEST(get_qp_num__gives_that_of_the_qp, setup_conn, teardown)
{
	uint32_t qp_num = 0;

	expect(0, rpma_conn_get_qp_num(w.conn, &qp_num));
	assert_int_equal(qp_num, provider.qp->qp_num);
}

TEST(get_cq__gives_the_main_cq, setup_conn, teardown)
{
	struct rpma_cq *cq = NULL, *rcq = UNTOUCHED;
	int fd = -1;

	expect(0, rpma_conn_get_cq(w.conn, &cq));
	expect(0, rpma_cq_get_fd(cq, &fd));
	assert_int_equal(fd, provider.cqs[0]->channel->fd);
	expect(0, rpma_conn_get_rcq(w.conn, &rcq));
	assert_null(rcq);
}

SETUP(setup_conn_with_rcq, setup_cfg, expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 1)); make_req();
      make_conn())

TEST(get_rcq__gives_the_receive_cq, setup_conn_with_rcq, teardown)
{
	struct rpma_cq *rcq = NULL;
	int fd = -1;

	expect(0, rpma_conn_get_rcq(w.conn, &rcq));
	expect(0, rpma_cq_get_fd(rcq, &fd));
	assert_int_equal(fd, provider.cqs[1]->channel->fd);
}

TEST(get_rcq__gives_null_when_the_srq_has_it, setup_peer, teardown)
{
	struct rpma_cq *rcq = UNTOUCHED;

	make_srq(5);
	make_cfg();
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_rcq_size(w.cfg, 7));
	make_req();
	make_conn();
	expect(0, rpma_conn_get_rcq(w.conn, &rcq));
	assert_null(rcq);
}

/* --- the end ------------------------------------------------------------- */

TEST(disconnect__reports_a_failure, setup_conn, teardown)
{
	calls_fail_on("rdma_disconnect", EINVAL);
	expect(RPMA_E_PROVIDER, rpma_conn_disconnect(w.conn));
}

ENDS(delete_conn, w.conn, rpma_conn_delete(&w.conn))

TEST(delete__survives_every_failing_call, setup_nothing, teardown)
{
	every_call_fails(&(struct operation){
		.function = "rpma_conn_delete", .setup = setup_conn, .act = delete_conn});
	every_call_fails(&(struct operation){
		.function = "rpma_conn_delete", .setup = setup_shared_conn, .act = delete_conn});
	every_call_fails(&(struct operation){
		.function = "rpma_conn_delete", .setup = setup_accepted, .act = delete_conn});
}

TEST(delete__frees_all_even_if_everything_fails, setup_conn, teardown)
{
	calls_fail_always(NULL, EIO);
	expect(RPMA_E_PROVIDER, rpma_conn_delete(&w.conn));
	EQUAL((w.conn, NULL), (provider.live.id + provider.live.qp + provider.live.cq, 0));
}
