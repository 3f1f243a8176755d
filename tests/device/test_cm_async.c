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

CM_PAIR_TEST(established__ends_send_both_ways)
{
	cm_send_works(&cm.client, &cm.server);
	cm_send_works(&cm.server, &cm.client);
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

CM_TEST(reject__needs_no_data)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	OK(rdma_reject(cm.server.id, NULL, 0));
	assert_int_equal(cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED).status,
			 REJECTED_BY_CONSUMER);
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

/* A bound id that does not listen is no listener. */
CM_TEST(port__only_bound_rejects)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *bound = cm_id(cm.server.channel);
	struct sockaddr_storage room;

	OK(rdma_bind_addr(bound, test_sockaddr(test_addr(), 0, &room)));
	cm_resolve(cm.client.id, test_addr(), ntohs(rdma_get_src_port(bound)));
	cm_make_qp(cm.client.id);
	OK(rdma_connect(cm.client.id, &param));
	assert_int_equal(cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED).status,
			 REJECTED_NO_LISTENER);
	OK(rdma_destroy_id(bound));
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

/* Who disconnects flushes at once; the other one does so as well when it is told. */
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

/* A QP of the program's own: it is told of the response and moves the states. */
static void move_qp(struct rdma_cm_id *id, struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};
	int mask = 0;

	OK(rdma_init_qp_attr(id, &attr, &mask));
	assert_int_equal(attr.qp_state, state);
	assert_true(mask & IBV_QP_STATE);
	OK(ibv_modify_qp(qp, &attr, mask));
}

static struct ibv_qp *own_qp(struct rdma_cm_id *id, struct ibv_cq **cq)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	*cq = ibv_create_cq(id->verbs, 10, NULL, NULL, 0);
	assert_non_null(*cq);
	attr.send_cq = attr.recv_cq = *cq;
	return ibv_create_qp(id->pd, &attr);
}

CM_TEST(own_qp__is_established_by_hand)
{
	struct rdma_conn_param param = cm_param("hello", 6);
	struct ibv_cq *client_cq = NULL, *server_cq = NULL;

	cm_resolve(cm.client.id, test_addr(), cm.port);
	struct ibv_qp *client = own_qp(cm.client.id, &client_cq);
	assert_non_null(client);
	move_qp(cm.client.id, client, IBV_QPS_INIT);
	param.qp_num = client->qp_num;
	OK(rdma_connect(cm.client.id, &param));

	struct cm_event event = cm_take_request();
	cm.server.id = event.id;
	assert_int_equal(event.conn.qp_num, client->qp_num);
	struct ibv_qp *server = own_qp(cm.server.id, &server_cq);
	assert_non_null(server);
	move_qp(cm.server.id, server, IBV_QPS_INIT);
	move_qp(cm.server.id, server, IBV_QPS_RTR);
	move_qp(cm.server.id, server, IBV_QPS_RTS);
	param.qp_num = server->qp_num;
	OK(rdma_accept(cm.server.id, &param));

	event = cm_expect(cm.client.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	assert_int_equal(event.conn.qp_num, server->qp_num);
	assert_padded(&event, (const unsigned char *)"hello", 6, REP_DATA);
	cm_expect_nothing(cm.server.channel);
	move_qp(cm.client.id, client, IBV_QPS_RTR);
	move_qp(cm.client.id, client, IBV_QPS_RTS);
	OK(rdma_establish(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect_nothing(cm.client.channel);

	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;
	OK(ibv_post_send(client, &wr, &bad));
	EXPECT_WC(client_cq, 0, IBV_WC_SUCCESS);
	OK(rdma_disconnect(cm.client.id));
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
	OK(ibv_destroy_qp(client));
	OK(ibv_destroy_qp(server));
	OK(ibv_destroy_cq(client_cq));
	OK(ibv_destroy_cq(server_cq));
}
