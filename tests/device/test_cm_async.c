/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cm_async.c -- connections by the RDMA CM with event channels: how they are
 * made, refused and ended, and what the events tell. Ids are test_cm_id.c's.
 */
#include "cm.h"

#include <arpa/inet.h>

/* ib_cm.h of the kernel: why a connection was rejected */
#define REJECTED_NO_LISTENER 8
#define REJECTED_BY_CONSUMER 28
#define REJECTED_OPTIONS     35

/* Each step needs the one before it. (An id without an address is asked nothing:
 * the real library looks into the device of it.) */
CM_TEST(steps__cannot_be_left_out)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	cm_make_qp(cm.client.id);
	FAILS(EINVAL, rdma_connect(cm.client.id, &param));
	FAILS(EINVAL, rdma_accept(cm.client.id, &param));
	OK(rdma_resolve_route(cm.client.id, 1000));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	FAILS(EINVAL, rdma_resolve_route(cm.client.id, 1000));
	FAILS(EINVAL, rdma_disconnect(cm.client.id));
}

CM_TEST(connect__establishes_both_ends)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	assert_ptr_equal(cm.server.id->channel, cm.server.channel);
	assert_ptr_equal(cm.server.id->context, &cm); /* the listener's */
	assert_non_null(cm.server.id->verbs);
	EQUAL((ntohs(rdma_get_src_port(cm.server.id)), cm.port),
	      (rdma_get_dst_port(cm.server.id), rdma_get_src_port(cm.client.id)));
	cm_expect_nothing(cm.client.channel);
	cm_accept(cm.server.id, &param);
	struct cm_event event = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(event.id, cm.client.id);
	assert_int_equal(event.status, 0);
	event = cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(event.id, cm.server.id);
	assert_int_equal(event.status, 0);
}

CM_PAIR_TEST(qp__of_the_id_goes_to_rts)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(cm.client.id->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init));
	EQUAL((attr.qp_state, IBV_QPS_RTS), (attr.dest_qp_num, cm.server.id->qp->qp_num));
	OK(ibv_query_qp(cm.server.id->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init));
	EQUAL((attr.qp_state, IBV_QPS_RTS), (attr.dest_qp_num, cm.client.id->qp->qp_num));
}

static struct ibv_qp_attr attributes(const struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT | IBV_QP_AV | IBV_QP_MIN_RNR_TIMER, &init));
	return attr;
}

/* rdma_set_option(3): the ACK timeout of the QP, where 0 is without end, and its TOS. */
CM_TEST(options__are_those_of_the_qp)
{
	uint8_t timeouts[] = {0, 17}, tos = 0x60;

	for (size_t i = 0; i < ARRAY_LENGTH(timeouts); i++) {
		OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
				   sizeof(tos)));
		OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
				   &timeouts[i], sizeof(timeouts[i])));
		cm_make_pair(test_addr());
		struct ibv_qp_attr attr = attributes(cm.client.id);
		assert_int_equal(attr.timeout, timeouts[i]);
		if (!on_rxe()) /* whose QPs have what the path has, not what was set */
			assert_int_equal(attr.ah_attr.grh.traffic_class, tos);
		teardown_cm(state);
		setup_cm(state);
	}
}

/* The CM has no option for it, but it may change in RTS: IBA table "QP state transition". */
CM_PAIR_TEST(rnr_timer__may_change_when_connected)
{
	struct ibv_qp_attr attr = {.min_rnr_timer = 21};

	OK(ibv_modify_qp(cm.client.id->qp, &attr, IBV_QP_MIN_RNR_TIMER));
	assert_int_equal(attributes(cm.client.id).min_rnr_timer, 21);
	cm_send_works(&cm.server, &cm.client);
}

static void assert_padded(const struct cm_event *event, const unsigned char *data, size_t size,
			  size_t whole)
{
	assert_int_equal(event->conn.private_data_len, whole);
	assert_memory_equal(event->private_data, data, size);
	for (size_t i = size; i < whole; i++)
		assert_int_equal(event->private_data[i], 0);
}

/* On IB the messages have a fixed size: what is not used arrives as zeros. */
CM_TEST(private_data__arrives_padded)
{
	static const size_t sizes[][2] = {{0, 0}, {1, 1}, {REQ_DATA, REP_DATA}};
	unsigned char data[256];

	fill(data, sizeof(data), 3);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct rdma_conn_param request = cm_param(data, sizes[i][0]);
		struct rdma_conn_param reply = cm_param(data, sizes[i][1]);

		cm_connect(cm.client.id, &request);
		struct cm_event event = cm_take_request();
		assert_padded(&event, data, sizes[i][0], REQ_DATA);
		cm.server.id = event.id;
		cm_accept(cm.server.id, &reply);
		event = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
		assert_padded(&event, data, sizes[i][1], REP_DATA);
		event = cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
		assert_int_equal(event.conn.private_data_len, 0);
		teardown_cm(state);
		setup_cm(state);
	}
}

CM_TEST(private_data__too_long_is_refused)
{
	static const unsigned char data[256];
	struct rdma_conn_param request = cm_param(data, REQ_DATA + 1);
	struct rdma_conn_param reply = cm_param(data, REP_DATA + 1);

	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_make_qp(cm.client.id);
	FAILS(EINVAL, rdma_connect(cm.client.id, &request));
	request.private_data_len = REQ_DATA;
	OK(rdma_connect(cm.client.id, &request));
	cm.server.id = cm_take_request().id;
	cm_make_qp(cm.server.id);
	FAILS(EINVAL, rdma_accept(cm.server.id, &reply));
	FAILS(EINVAL, rdma_reject(cm.server.id, data, REJ_DATA + 1));
}

CM_TEST(reject__tells_why)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	unsigned char data[REJ_DATA];

	fill(data, sizeof(data), 3);
	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	OK(rdma_reject(cm.server.id, data, 20));
	struct cm_event event = cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(event.id, cm.client.id);
	assert_int_equal(event.status, REJECTED_BY_CONSUMER);
	assert_padded(&event, data, 20, REJ_DATA);
	cm_expect_nothing(cm.server.channel);
	/* the id cannot be accepted now */
	FAILS(EINVAL, rdma_accept(cm.server.id, &param));
}

CM_TEST(destroyed__request_is_rejected)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	OK(rdma_destroy_id(cm_take_request().id));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
}

CM_TEST(port__without_listener_rejects)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	cm_connect(cm.client.id, &param);
	struct cm_event event = cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(event.id, cm.client.id);
	assert_int_equal(event.status, REJECTED_NO_LISTENER);
}

/* While a listener is waited for, no other id gets the port of the one that connects. */
CM_TEST(port__of_a_refused_id_is_not_lost)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *thief = cm_id(cm.server.channel);
	struct sockaddr_storage room;
	struct sockaddr *own;
	int ret;

	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	cm_connect(cm.client.id, &param);
	own = test_sockaddr(test_addr(), ntohs(rdma_get_src_port(cm.client.id)), &room);
	do
		ret = rdma_bind_addr(thief, own);
	while (ret != 0 && errno == EADDRINUSE && !is_readable(cm.client.channel->fd));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	OK(rdma_destroy_id(thief));
}

CM_TEST(parameters__arrive_from_the_other_view)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	param.responder_resources = 5;
	param.initiator_depth = 2;
	param.retry_count = 4;
	param.rnr_retry_count = 3;
	cm_connect(cm.client.id, &param);
	struct cm_event event = cm_take_request();
	EQUAL((event.conn.responder_resources, 2), (event.conn.initiator_depth, 5),
	      (event.conn.retry_count, 4), (event.conn.rnr_retry_count, 3),
	      (event.conn.qp_num, cm.client.id->qp->qp_num));
	cm.server.id = event.id;
	param.responder_resources = 1;
	param.initiator_depth = 1;
	cm_accept(cm.server.id, &param);
	event = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	EQUAL((event.conn.responder_resources, 1), (event.conn.initiator_depth, 1),
	      (event.conn.qp_num, cm.server.id->qp->qp_num));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void assert_flushed(struct cm_end *end)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	EXPECT_WC(end->id->recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
	OK(ibv_query_qp(end->id->qp, &attr, IBV_QP_STATE, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_ERR);
}

/* The end that disconnects flushes at once, the other one when it is told. */
static void disconnect_tells(struct cm_end *who, struct cm_end *other)
{
	cm_post_recv(who, 7);
	cm_post_recv(other, 7);
	OK(rdma_disconnect(who->id));
	assert_flushed(who);
	assert_ptr_equal(cm_expect(other->channel, RDMA_CM_EVENT_DISCONNECTED).id, other->id);
	OK(rdma_disconnect(other->id));
	assert_flushed(other);
	assert_ptr_equal(cm_expect(who->channel, RDMA_CM_EVENT_DISCONNECTED).id, who->id);
}

CM_PAIR_TEST(disconnect__by_the_client_tells_both)
{
	disconnect_tells(&cm.client, &cm.server);
}

CM_PAIR_TEST(disconnect__by_the_server_tells_both)
{
	disconnect_tells(&cm.server, &cm.client);
}

CM_PAIR_TEST(disconnect__at_both_ends_at_once)
{
	OK(rdma_disconnect(cm.client.id));
	OK(rdma_disconnect(cm.server.id));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_DISCONNECTED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
}

CM_PAIR_TEST(disconnect__ends_in_timewait_exit)
{
	OK(rdma_disconnect(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
	OK(rdma_disconnect(cm.server.id));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_DISCONNECTED);
	assert_ptr_equal(cm_expect(cm.client.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT).id,
			 cm.client.id);
	assert_ptr_equal(cm_expect(cm.server.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT).id,
			 cm.server.id);
}

CM_PAIR_TEST(destroy_id__of_one_end_disconnects_the_other)
{
	OK(ibv_dereg_mr(cm.client.mr));
	rdma_destroy_qp(cm.client.id);
	OK(rdma_destroy_id(cm.client.id));
	cm.client.mr = NULL;
	cm.client.id = NULL;
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
}

CM_PAIR_TEST(listener__may_go_once_connected)
{
	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	cm_send_works(&cm.client, &cm.server);
}

CM_TEST(requests__wait_in_the_backlog)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *clients[8], *servers[8];
	int established = 0;

	for (size_t i = 0; i < ARRAY_LENGTH(clients); i++) {
		clients[i] = cm_id(cm.client.channel);
		cm_connect(clients[i], &param);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++) {
		servers[i] = cm_take_request().id;
		cm_make_qp(servers[i]);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		OK(rdma_accept(servers[i], &param));
	for (size_t i = 0; i < ARRAY_LENGTH(clients); i++) {
		cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
		cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
		established++;
	}
	assert_int_equal(established, ARRAY_LENGTH(clients));
	for (size_t i = 0; i < ARRAY_LENGTH(clients); i++) {
		rdma_destroy_qp(clients[i]);
		rdma_destroy_qp(servers[i]);
		OK(rdma_destroy_id(clients[i]));
		OK(rdma_destroy_id(servers[i]));
	}
}

CM_TEST(connect__again_after_a_rejection)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	for (int i = 0; i < 20; i++) {
		cm_connect(cm.client.id, &param);
		struct rdma_cm_id *server = cm_take_request().id;
		OK(rdma_reject(server, NULL, 0));
		OK(rdma_destroy_id(server));
		cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
		rdma_destroy_qp(cm.client.id);
		OK(rdma_destroy_id(cm.client.id));
		cm.client.id = cm_id(cm.client.channel);
	}
	cm_make_pair(test_addr());
}

/* --- QPs of the program's own: it is told of the response and moves the states --- */

struct own {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
};

static void move_qp(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0;

	OK(rdma_init_qp_attr(id, &attr, &mask));
	assert_int_equal(attr.qp_state, state);
	assert_true(mask & IBV_QP_STATE);
	OK(ibv_modify_qp(qp, &attr, mask));
}

static struct own own_make(struct rdma_cm_id *id)
{
	struct own own = {.cq = ibv_create_cq(id->verbs, 10, NULL, NULL, 0)};
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.send_cq = own.cq,
		.recv_cq = own.cq};

	assert_non_null(own.cq);
	own.qp = ibv_create_qp(id->pd, &attr);
	assert_non_null(own.qp);
	move_qp(id, own.qp, IBV_QPS_INIT);
	return own;
}

static void own_destroy(struct own *own)
{
	OK(ibv_destroy_qp(own->qp));
	OK(ibv_destroy_cq(own->cq));
}

static struct own own_connect(void)
{
	struct rdma_conn_param param = cm_param("hello", 6);
	struct own client;

	cm_resolve(cm.client.id, test_addr(), cm.port);
	client = own_make(cm.client.id);
	param.qp_num = client.qp->qp_num;
	OK(rdma_connect(cm.client.id, &param));
	return client;
}

/* The request that cm.server.id is. */
static struct own own_accept(void)
{
	struct rdma_conn_param param = cm_param("hello", 6);
	struct own server = own_make(cm.server.id);

	move_qp(cm.server.id, server.qp, IBV_QPS_RTR);
	move_qp(cm.server.id, server.qp, IBV_QPS_RTS);
	param.qp_num = server.qp->qp_num;
	OK(rdma_accept(cm.server.id, &param));
	return server;
}

CM_TEST(own_qp__is_established_by_hand)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;
	struct own client = own_connect(), server;

	struct cm_event event = cm_take_request();
	cm.server.id = event.id;
	assert_int_equal(event.conn.qp_num, client.qp->qp_num);
	server = own_accept();
	event = cm_expect(cm.client.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	assert_int_equal(event.conn.qp_num, server.qp->qp_num);
	assert_padded(&event, (const unsigned char *)"hello", 6, REP_DATA);
	cm_expect_nothing(cm.server.channel);
	move_qp(cm.client.id, client.qp, IBV_QPS_RTR);
	move_qp(cm.client.id, client.qp, IBV_QPS_RTS);
	OK(rdma_establish(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect_nothing(cm.client.channel);

	OK(ibv_post_send(client.qp, &wr, &bad));
	EXPECT_WC(client.cq, 0, IBV_WC_SUCCESS);
	OK(rdma_disconnect(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
	own_destroy(&client);
	own_destroy(&server);
}

/* ib_cm_notify() of the kernel: a message may come before the client's last word does. */
CM_TEST(own_qp__is_established_by_what_arrives)
{
	struct own client = own_connect(), server;

	cm.server.id = cm_take_request().id;
	FAILS(EINVAL, rdma_notify(cm.server.id, IBV_EVENT_COMM_EST));
	server = own_accept();
	cm_expect(cm.client.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	FAILS(EINVAL, rdma_notify(cm.server.id, IBV_EVENT_SQ_DRAINED));
	OK(rdma_notify(cm.server.id, IBV_EVENT_COMM_EST));
	assert_ptr_equal(cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED).id, cm.server.id);
	FAILS(EISCONN, rdma_notify(cm.server.id, IBV_EVENT_COMM_EST));
	OK(rdma_establish(cm.client.id));
	OK(rdma_disconnect(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED); /* the next that it hears of */
	own_destroy(&client);
	own_destroy(&server);
}

/* rdma_set_local_ece(3), rdma_get_remote_ece(3) */
CM_TEST(own_qp__options_of_the_vendor_reach_the_peer)
{
	struct ibv_ece request = {.vendor_id = 0x2c9, .options = 5}, got = {0};
	struct ibv_ece reply = {.vendor_id = 0x2c9, .options = 1};
	struct own client, server;

	OK(rdma_set_local_ece(cm.client.id, &request));
	client = own_connect();
	cm.server.id = cm_take_request().id;
	OK(rdma_get_remote_ece(cm.server.id, &got));
	assert_int_equal(got.vendor_id, request.vendor_id);
	assert_int_equal(got.options, request.options);
	OK(rdma_set_local_ece(cm.server.id, &reply));
	server = own_accept();
	cm_expect(cm.client.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	OK(rdma_get_remote_ece(cm.client.id, &got));
	assert_int_equal(got.vendor_id, reply.vendor_id);
	assert_int_equal(got.options, reply.options);
	own_destroy(&client);
	own_destroy(&server);
}

CM_TEST(own_qp__options_of_the_vendor_may_be_rejected)
{
	struct ibv_ece request = {.vendor_id = 0x2c9, .options = 5};
	struct own client;

	OK(rdma_set_local_ece(cm.client.id, &request));
	client = own_connect();
	cm.server.id = cm_take_request().id;
	OK(rdma_reject_ece(cm.server.id, NULL, 0));
	assert_int_equal(cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED).status,
			 REJECTED_OPTIONS);
	own_destroy(&client);
}

CM_TEST(options_of_the_vendor__are_not_for_a_qp_of_the_id)
{
	struct ibv_ece ece = {.vendor_id = 0, .options = 1};

	FAILS(EINVAL, rdma_set_local_ece(cm.client.id, &ece));
	FAILS(EINVAL, rdma_get_remote_ece(cm.client.id, NULL));
	ece.vendor_id = 0x2c9;
	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_make_qp(cm.client.id);
	FAILS(EINVAL, rdma_set_local_ece(cm.client.id, &ece));
	FAILS(EINVAL, rdma_get_remote_ece(cm.client.id, &ece));
}
