/* SPDX-License-Identifier: BSD-3-Clause */
/* test_connecting.c -- rpma_conn_connect(): a connection that is made step by step. */
#include "every_call_fails.h"

#include <arpa/inet.h>
#include <fcntl.h>

static const struct rpma_conn_private_data hello = {"hello", 5};

SETUP(setup_two_addresses, setup_cfg, provider.addresses = 2)

static void do_not_block(void)
{
	int fd = -1;

	expect(0, rpma_conn_get_event_fd(w.conn, &fd));
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static void begin(void)
{
	expect(0, rpma_conn_connect(w.peer, "192.0.2.1", "7204", w.cfg, &hello, &w.conn));
	do_not_block();
}

/* The event that comes now, or RPMA_CONN_UNDEFINED: it was a step. */
static enum rpma_conn_event after(enum rdma_cm_event_type type, int status)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	provider.cm_status = status;
	provider_queue_cm_event(provider.id, type, NULL, 0);
	int ret = rpma_conn_next_event(w.conn, &event);
	expect_named(event == RPMA_CONN_UNDEFINED ? RPMA_E_NO_EVENT : 0, "rpma_conn_next_event",
		     ret);
	return event;
}

static void expect_step(enum rdma_cm_event_type type)
{
	assert_int_equal(after(type, 0), RPMA_CONN_UNDEFINED);
}

static void establish(void)
{
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(after(RDMA_CM_EVENT_ESTABLISHED, 0), RPMA_CONN_ESTABLISHED);
}

static void assert_connecting_to(const char *address)
{
	const struct sockaddr_in *peer = (struct sockaddr_in *)rdma_get_peer_addr(provider.id);
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer->sin_addr, text, sizeof(text));
	assert_string_equal(text, address);
}

/* --- one address ------------------------------------------------------------------------ */

TEST(connect__takes_a_step_at_a_time, setup_cfg, teardown)
{
	struct rpma_conn_private_data answer;
	struct rdma_cm_id *id = NULL;

	expect(0, rpma_conn_cfg_set_timeout(w.cfg, 77));
	begin();
	assert_int_equal(provider.lookup.ai_socktype, SOCK_STREAM);
	assert_connecting_to("192.0.2.1");
	EQUAL((provider.resolve.addr_timeout_ms, 77), (calls_count("rdma_create_qp_ex"), 0));

	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	EQUAL((calls_count("rdma_create_qp_ex"), 1), (provider.resolve.route_timeout_ms, 77),
	      (provider.connect.given, false));

	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	EQUAL((provider.connect.given, true), (provider.connect.param.private_data_len, hello.len));
	assert_memory_equal(provider.connect.private_data, hello.ptr, hello.len);

	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "answer", 6);
	expect(0, rpma_conn_next_event(w.conn, &event));
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
	expect(0, rpma_conn_get_private_data(w.conn, &answer));
	assert_memory_equal(answer.ptr, "answer", 6);
	expect(0, rpma_conn_get_id(w.conn, &id));
	assert_ptr_equal(id, provider.id);
}

TEST(connect__takes_all_steps_in_one_call, setup_cfg, teardown)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	begin();
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, 0);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL, 0);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, NULL, 0);
	expect(0, rpma_conn_next_event(w.conn, &event));
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
}

TEST(connect__is_waited_for, setup_cfg, teardown)
{
	struct rpma_wait_item item = {0};

	begin();
	item.conn = w.conn;
	expect(RPMA_E_TIMEOUT, rpma_wait(&item, 1, 0, NULL));
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, 0);
	expect(0, rpma_wait(&item, 1, 0, NULL));
	assert_true(item.ready);
}

TEST(connect__works_with_defaults, setup_peer, teardown)
{
	expect(0, rpma_conn_connect(w.peer, "192.0.2.1", "7204", NULL, NULL, &w.conn));
	do_not_block();
	establish();
	EQUAL((provider.connect.param.private_data, NULL),
	      (provider.create_qp.cap.max_send_wr, 10));
}

TEST(connect__has_queues_at_once_and_refuses_work, setup_cfg, teardown)
{
	struct rdma_cm_id *id = UNTOUCHED;
	struct rpma_cq *cq = NULL;
	const struct rpma_range range = {w.mr, 0, 8};
	uint32_t qp_num = 77;
	struct ibv_wc wc;

	begin();
	for (int resolved = 0; resolved < 2; resolved++) {
		expect(0, rpma_conn_get_cq(w.conn, &cq));
		expect(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(cq, 1, &wc, NULL));
		expect(RPMA_E_INVAL, rpma_conn_get_id(w.conn, &id));
		expect(RPMA_E_INVAL, rpma_conn_get_qp_num(w.conn, &qp_num));
		expect(RPMA_E_PROVIDER, rpma_recv(w.conn, w.mr, 0, 8, NULL));
		expect(RPMA_E_PROVIDER,
		       rpma_write(w.conn, w.remote, 0, w.mr, 0, 8, RPMA_F_COMPLETION_ALWAYS, NULL));
		expect(RPMA_E_PROVIDER, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8,
						   RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, NULL));
		expect(RPMA_E_PROVIDER,
		       rpma_write_flush(w.conn, w.remote, 0, w.mr, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
					RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, NULL));
		expect(RPMA_E_PROVIDER,
		       rpma_writev(w.conn, w.remote, 0, &range, 1, RPMA_F_COMPLETION_ALWAYS, NULL));
		expect(RPMA_E_PROVIDER,
		       rpma_flush(w.conn, w.remote, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY,
				  RPMA_F_COMPLETION_ALWAYS, NULL));
		if (!resolved)
			expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	}
	assert_ptr_equal(id, UNTOUCHED);
	EQUAL((qp_num, 77), (provider.send.posted + provider.recv.posted, 0));
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(after(RDMA_CM_EVENT_ESTABLISHED, 0), RPMA_CONN_ESTABLISHED);
	expect(0, rpma_recv(w.conn, w.mr, 0, 8, NULL));
	assert_int_equal(provider.recv.posted, 1);
	expect(0, rpma_write(w.conn, w.remote, 0, w.mr, 0, 8,
			     RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE, NULL));
	assert_int_equal(provider.send.posted, 0);
	expect(0, rpma_submit(w.conn));
	assert_int_equal(provider.send.posted, 1);
}

TEST(connect__refuses_native_work_as_well, NULL, teardown)
{
	const char eight[8] = "8 bytes";

	setup_device(CAP_ATOMIC_WRITE);
	make_peer();
	make_mr();
	make_cfg();
	begin();
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	expect(RPMA_E_PROVIDER,
	       rpma_atomic_write(w.conn, w.remote, 0, eight, RPMA_F_COMPLETION_ALWAYS, NULL));
	assert_int_equal(provider.native.completed + provider.send.posted, 0);
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(after(RDMA_CM_EVENT_ESTABLISHED, 0), RPMA_CONN_ESTABLISHED);
	expect(0, rpma_atomic_write(w.conn, w.remote, 0, eight, RPMA_F_COMPLETION_ALWAYS, NULL));
	assert_int_equal(provider.native.completed, RPMA_NATIVE);
}

TEST(connect__is_made_as_its_options_say, setup_cfg, teardown)
{
	uint32_t value = 77;

	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_TRAFFIC_CLASS, 96));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_RETRIES, 2));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_RNR_TIMER, 14));
	begin();
	assert_int_equal(provider.id_option[RDMA_OPTION_ID_TOS], 96);
	establish();
	EQUAL((provider.connect.param.retry_count, 2), (provider.modify_qp.attr.min_rnr_timer, 14));
	expect(0, rpma_conn_get_option(w.conn, RPMA_CONN_OPT_FLUSH_METHOD, &value));
	assert_int_equal(value, RPMA_FLUSH_METHOD_READ);
}

TEST(connect__ignores_events_of_no_consequence, setup_cfg, teardown)
{
	begin();
	expect_step(RDMA_CM_EVENT_ADDR_CHANGE);
	establish();
}

/* --- the outcome ------------------------------------------------------------------------- */

/* How an attempt can end, after which steps, and what it is if there is no other address. */
static const struct {
	unsigned steps;
	enum rdma_cm_event_type type;
	int status;
	enum rpma_conn_event outcome;
	const char *text;
} failures[] = {
	{0, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, RPMA_CONN_UNREACHABLE, "No such device"},
	{1, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, RPMA_CONN_UNREACHABLE, "timed out"},
	{2, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, RPMA_CONN_UNREACHABLE, "timed out"},
	{2, RDMA_CM_EVENT_CONNECT_ERROR, -EIO, RPMA_CONN_LOST, "Input/output error"},
	{2, RDMA_CM_EVENT_REJECTED, 8, RPMA_CONN_REJECTED, "no program listens there"},
	{2, RDMA_CM_EVENT_REJECTED, 1, RPMA_CONN_REJECTED, "192.0.2.1:7204"},
};

static enum rpma_conn_event run_failure(size_t i)
{
	if (failures[i].steps > 0)
		expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	if (failures[i].steps > 1)
		expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	return after(failures[i].type, failures[i].status);
}

TEST(outcome__is_that_of_the_only_address, setup_cfg, teardown)
{
	enum rpma_conn_event event;

	for (size_t i = 0; i < ARRAY_LENGTH(failures); i++) {
		begin();
		assert_int_equal(run_failure(i), failures[i].outcome);
		expect_text(failures[i].text);
		expect_text("connection with 192.0.2.1:7204: ");
		expect(RPMA_E_NO_EVENT, rpma_conn_next_event(w.conn, &event));
		expect(0, rpma_conn_delete(&w.conn));
		provider.num_cqs = 0;
	}
}

TEST(outcome__may_come_from_the_next_address, setup_two_addresses, teardown)
{
	for (size_t i = 0; i < ARRAY_LENGTH(failures); i++) {
		enum rpma_rejection rejection = RPMA_REJECTION_OTHER;

		begin();
		assert_int_equal(run_failure(i), RPMA_CONN_UNDEFINED);
		assert_connecting_to("192.0.2.2");
		EQUAL((provider.live.id, 1), (provider.live.qp, 0));
		establish();
		expect(0, rpma_conn_get_rejection(w.conn, &rejection));
		assert_int_equal(rejection, RPMA_REJECTION_NONE);
		expect(0, rpma_conn_delete(&w.conn));
		provider.num_cqs = 0;
	}
}

TEST(outcome__is_that_of_the_last_address, setup_two_addresses, teardown)
{
	begin();
	assert_int_equal(after(RDMA_CM_EVENT_ADDR_ERROR, -ENODEV), RPMA_CONN_UNDEFINED);
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	assert_int_equal(after(RDMA_CM_EVENT_REJECTED, 8), RPMA_CONN_REJECTED);
	expect_text("connection with 192.0.2.2:7204: ");
}

TEST(outcome__is_final_where_a_program_refuses, setup_two_addresses, teardown)
{
	struct rpma_conn_private_data reason;
	enum rpma_conn_event event;
	enum rpma_rejection who;

	begin();
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	provider.cm_status = 28;
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_REJECTED, "full", 4);
	expect(0, rpma_conn_next_event(w.conn, &event));
	assert_int_equal(event, RPMA_CONN_REJECTED);
	expect_text("192.0.2.1:7204");
	expect_text("the program there refused");
	expect(0, rpma_conn_get_rejection(w.conn, &who));
	assert_int_equal(who, RPMA_REJECTION_PROGRAM);
	expect(0, rpma_conn_get_private_data(w.conn, &reason));
	assert_memory_equal(reason.ptr, "full", 4);
}

TEST(outcome__forgets_the_data_of_an_earlier_refusal, setup_two_addresses, teardown)
{
	struct rpma_conn_private_data answer;
	enum rpma_conn_event event;

	begin();
	provider.cm_status = 8;
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_REJECTED, "zeros", 5);
	expect(RPMA_E_NO_EVENT, rpma_conn_next_event(w.conn, &event));
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ESTABLISHED, "answer", 6);
	expect(0, rpma_conn_next_event(w.conn, &event));
	expect(0, rpma_conn_get_private_data(w.conn, &answer));
	assert_int_equal(answer.len, 6);
}

/* The next device gets the options as they were, not as another one changed them. */
TEST(outcome__asks_each_device_for_the_same, setup_two_addresses, teardown)
{
	begin();
	expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_int_equal(after(RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT), RPMA_CONN_UNDEFINED);
	memset(&provider.create_qp, 0, sizeof(provider.create_qp));
	establish();
	EQUAL((provider.create_qp.cap.max_send_wr, 10),
	      (provider.create_qp.cap.max_inline_data, 8));
}

TEST(outcome__survives_addresses_that_fail_at_once, setup_two_addresses, teardown)
{
	struct rpma_conn *conn = UNTOUCHED;

	calls_fail_on("rdma_resolve_addr", ENODEV);
	begin();
	assert_connecting_to("192.0.2.2");
	establish();
	expect(0, rpma_conn_delete(&w.conn));
	calls_fail_always("rdma_resolve_addr", ENODEV);
	expect(RPMA_E_PROVIDER, rpma_conn_connect(w.peer, "192.0.2.1", "7204", NULL, NULL, &conn));
	expect_text("rdma_resolve_addr(192.0.2.2:7204, timeout_ms=1000): No such device");
	assert_ptr_equal(conn, UNTOUCHED);
}

TEST(outcome__of_options_that_are_not_supported, setup_cfg, teardown)
{
	struct rpma_conn *conn = UNTOUCHED;
	enum rpma_conn_event event;

	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_FLUSH_METHOD,
					   RPMA_FLUSH_METHOD_NATIVE));
	begin();
	provider_queue_cm_event(provider.id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, 0);
	expect(RPMA_E_NOSUPP, rpma_conn_next_event(w.conn, &event));
	expect_text("native flush");
	expect(RPMA_E_NO_EVENT, rpma_conn_next_event(w.conn, &event));
	expect(0, rpma_conn_delete(&w.conn));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_TRAFFIC_CLASS, 1));
	calls_fail_on("rdma_set_option", ENOSYS);
	expect(RPMA_E_NOSUPP, rpma_conn_connect(w.peer, "192.0.2.1", "7204", w.cfg, NULL, &conn));
	assert_ptr_equal(conn, UNTOUCHED);
}

/* --- failures ------------------------------------------------------------------------------ */

TEST(connect__refuses_bad_arguments, setup_cfg, teardown)
{
	static const struct rpma_conn_private_data bad[] = {{NULL, 5}, {"hello", 0}};
	const char *host = "192.0.2.1", *port = "7204";
	struct rpma_conn *conn = UNTOUCHED;

	expect(RPMA_E_INVAL, rpma_conn_connect(NULL, host, port, NULL, NULL, &conn));
	expect(RPMA_E_INVAL, rpma_conn_connect(w.peer, NULL, port, NULL, NULL, &conn));
	expect(RPMA_E_INVAL, rpma_conn_connect(w.peer, host, NULL, NULL, NULL, &conn));
	expect(RPMA_E_INVAL, rpma_conn_connect(w.peer, host, port, NULL, NULL, NULL));
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		expect(RPMA_E_INVAL, rpma_conn_connect(w.peer, host, port, NULL, &bad[i], &conn));
	make_srq(5);
	expect(0, rpma_conn_cfg_set_srq(w.cfg, w.srq));
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(RPMA_E_INVAL, rpma_conn_connect(w.peer, host, port, w.cfg, NULL, &conn));
	assert_ptr_equal(conn, UNTOUCHED);
}

TEST(connect__names_what_cannot_be_found, setup_cfg, teardown)
{
	struct rpma_conn *conn = UNTOUCHED;

	provider.getaddrinfo_answer = EAI_NONAME;
	expect(RPMA_E_PROVIDER,
	       rpma_conn_connect(w.peer, "nowhere.invalid", "7204", NULL, NULL, &conn));
	expect_text("getaddrinfo(node=nowhere.invalid, service=7204): Name or service not known");
}

static int connect_in_steps(void)
{
	static const enum rdma_cm_event_type steps[] = {RDMA_CM_EVENT_ADDR_RESOLVED,
							RDMA_CM_EVENT_ROUTE_RESOLVED,
							RDMA_CM_EVENT_ESTABLISHED};
	struct rpma_conn *conn = UNTOUCHED;
	enum rpma_conn_event event;
	int ret = rpma_conn_connect(w.peer, "192.0.2.1", "7204", w.cfg, &hello, &conn);

	keep_made(ret, conn, w.conn);
	if (ret == 0)
		do_not_block();
	for (size_t i = 0; ret == 0 && i < ARRAY_LENGTH(steps); i++) {
		const bool last = i == ARRAY_LENGTH(steps) - 1;

		provider_queue_cm_event(provider.id, steps[i], last ? "hi" : NULL, last ? 2 : 0);
		ret = rpma_conn_next_event(w.conn, &event);
		if (!last && ret == RPMA_E_NO_EVENT)
			ret = 0;
	}
	return ret;
}

static int setup_options(void **unused)
{
	setup_cfg(unused);
	expect(0, rpma_conn_cfg_set_compl_channel(w.cfg, true));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_RCQ_SIZE, 10));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CQ_MODERATION_COUNT, 16));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_SIGNAL_EVERY, 4));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_TRAFFIC_CLASS, 1));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_ACK_TIMEOUT, 14));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_RNR_TIMER, 14));
	expect(0, rpma_conn_cfg_set_option(w.cfg, RPMA_CONN_OPT_CONNECT_MS, 60000));
	return 0;
}

SURVIVES(connect, .function = "rpma_conn_connect", .setup = setup_options, .act = connect_in_steps)

/* Deleted at any step, it leaves nothing: the teardown looks. */
TEST(connect__may_be_given_up, setup_cfg, teardown)
{
	for (unsigned steps = 0; steps < 3; steps++) {
		begin();
		if (steps > 0)
			expect_step(RDMA_CM_EVENT_ADDR_RESOLVED);
		if (steps > 1)
			expect_step(RDMA_CM_EVENT_ROUTE_RESOLVED);
		expect(0, rpma_conn_delete(&w.conn));
		EQUAL((provider.live.id, 0), (provider.live.qp, 0));
	}
}
