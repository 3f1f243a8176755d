/* SPDX-License-Identifier: BSD-3-Clause */
/* test_cm_async.c -- connections by the RDMA CM with event channels. */
#include "cm.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>
#include <string.h>

/* ib_cm.h of the kernel: why a connection was rejected */
#define REJECTED_NO_LISTENER 8
#define REJECTED_BY_CONSUMER 28

static void create_id__fills_in_what_is_known(void **unused)
{
	assert_ptr_equal(cm.client.id->channel, cm.client.channel);
	assert_ptr_equal(cm.client.id->context, &cm);
	assert_int_equal(cm.client.id->ps, RDMA_PS_TCP);
	assert_null(cm.client.id->verbs);
	assert_null(cm.client.id->qp);
}

static void create_id__refuses_port_spaces_it_does_not_know(void **unused)
{
	struct rdma_cm_id *id = NULL;

	assert_int_equal(rdma_create_id(cm.client.channel, &id, NULL, (enum rdma_port_space)0x1),
			 -1);
}

static void resolve__finds_device_and_address(void **unused)
{
	struct sockaddr_storage room;
	struct sockaddr *addr = test_sockaddr(test_addr(), cm.port, &room);
	struct rdma_cm_id *id = cm.client.id;
	struct ibv_device_attr attr;

	cm_resolve(id, test_addr(), cm.port);
	assert_non_null(id->verbs);
	assert_non_null(id->pd);
	assert_int_equal(id->port_num, 1);
	OK(ibv_query_device(id->verbs, &attr));
	assert_memory_equal(rdma_get_peer_addr(id), addr, sizeof(struct sockaddr_in));
	assert_int_equal(rdma_get_local_addr(id)->sa_family, AF_INET);
	assert_int_equal(ntohs(rdma_get_dst_port(id)), cm.port);
	assert_int_not_equal(rdma_get_src_port(id), 0);
}

static void resolve__shares_the_context_of_a_device(void **unused)
{
	struct rdma_cm_id *other = cm_id(cm.client.channel);

	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_resolve(other, test_addr(), cm.port);
	assert_ptr_equal(other->verbs, cm.client.id->verbs);
	assert_ptr_equal(other->pd, cm.client.id->pd);
	OK(rdma_destroy_id(other));
}

static void get_devices__has_that_of_the_id(void **unused)
{
	int count = 0;
	bool found = false;
	struct ibv_context **list = rdma_get_devices(&count);

	assert_non_null(list);
	cm_resolve(cm.client.id, test_addr(), cm.port);
	for (int i = 0; i < count; i++)
		found = found || list[i] == cm.client.id->verbs;
	assert_true(found);
	assert_null(list[count]);
	rdma_free_devices(list);
}

/* Each step needs the one before it. (An id without an address is asked nothing:
 * the real library looks into the device of it.) */
static void steps__cannot_be_left_out(void **unused)
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

static void connect__establishes_both_ends(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	assert_ptr_equal(cm.server.id->channel, cm.server.channel);
	assert_ptr_equal(cm.server.id->context, &cm); /* the listener's */
	assert_non_null(cm.server.id->verbs);
	assert_int_equal(ntohs(rdma_get_src_port(cm.server.id)), cm.port);
	assert_int_equal(rdma_get_dst_port(cm.server.id), rdma_get_src_port(cm.client.id));
	cm_expect_nothing(cm.client.channel);
	cm_accept(cm.server.id, &param);
	struct cm_news news = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(news.id, cm.client.id);
	assert_int_equal(news.status, 0);
	news = cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_ptr_equal(news.id, cm.server.id);
	assert_int_equal(news.status, 0);
}

static void established__ends_send_both_ways(void **unused)
{
	cm_send_works(&cm.client, &cm.server);
	cm_send_works(&cm.server, &cm.client);
}

static void qp__of_the_id_goes_to_rts(void **unused)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(cm.client.id->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(attr.dest_qp_num, cm.server.id->qp->qp_num);
	OK(ibv_query_qp(cm.server.id->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	assert_int_equal(attr.dest_qp_num, cm.client.id->qp->qp_num);
}

/* rdma_create_qp() brings the QP to INIT, so that receives can be posted. */
static void create_qp__makes_one_in_init_and_its_queues(void **unused)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_make_qp(cm.client.id);
	OK(ibv_query_qp(cm.client.id->qp, &attr, IBV_QP_STATE, &init));
	assert_int_equal(attr.qp_state, IBV_QPS_INIT);
	assert_non_null(cm.client.id->send_cq);
	assert_non_null(cm.client.id->recv_cq);
	assert_non_null(cm.client.id->send_cq_channel);
	assert_non_null(cm.client.id->recv_cq_channel);
	assert_ptr_equal(cm.client.id->qp->pd, cm.client.id->pd);
	rdma_destroy_qp(cm.client.id);
	assert_null(cm.client.id->qp);
	assert_null(cm.client.id->send_cq);
	assert_null(cm.client.id->recv_cq);
}

/* Queues and PD of the program's own are used as they are, and stay its own. */
static void create_qp__takes_queues_of_the_program(void **unused)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	struct ibv_pd *pd = ibv_alloc_pd(cm.client.id->verbs);
	struct ibv_cq *cq = ibv_create_cq(cm.client.id->verbs, 10, NULL, NULL, 0);
	attr.send_cq = attr.recv_cq = cq;
	OK(rdma_create_qp(cm.client.id, pd, &attr));
	assert_ptr_equal(cm.client.id->qp->pd, pd);
	assert_ptr_equal(cm.client.id->qp->send_cq, cq);
	assert_ptr_equal(cm.client.id->qp->recv_cq, cq);
	rdma_destroy_qp(cm.client.id);
	OK(ibv_destroy_cq(cq));
	OK(ibv_dealloc_pd(pd));
}

static void create_qp__refuses_a_pd_of_another_context(void **unused)
{
	struct ibv_context *context = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	FAILS(EINVAL, rdma_create_qp(cm.client.id, pd, &attr));
	assert_null(cm.client.id->qp);
	OK(ibv_dealloc_pd(pd));
	OK(ibv_close_device(context));
}

static void create_qp_ex__makes_an_extended_one(void **unused)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	attr.pd = cm.client.id->pd;
	OK(rdma_create_qp_ex(cm.client.id, &attr));
	assert_non_null(ibv_qp_to_qp_ex(cm.client.id->qp));
}

static void create_srq__is_taken_by_the_qp(void **unused)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 5, .max_sge = 1}};

	cm_resolve(cm.client.id, test_addr(), cm.port);
	OK(rdma_create_srq(cm.client.id, NULL, &attr));
	assert_non_null(cm.client.id->srq);
	cm_make_qp(cm.client.id);
	assert_ptr_equal(cm.client.id->qp->srq, cm.client.id->srq);
	rdma_destroy_qp(cm.client.id);
	rdma_destroy_srq(cm.client.id);
	assert_null(cm.client.id->srq);
}

static void assert_padded(const struct cm_news *news, const unsigned char *data, size_t size,
			  size_t whole)
{
	assert_int_equal(news->conn.private_data_len, whole);
	assert_memory_equal(news->private_data, data, size);
	for (size_t i = size; i < whole; i++)
		assert_int_equal(news->private_data[i], 0);
}

/* On IB the messages have a fixed size: what is not used arrives as zeros. */
static void private_data__arrives_padded(void **unused)
{
	static const size_t sizes[][2] = {{0, 0}, {1, 1}, {REQ_DATA, REP_DATA}};
	unsigned char data[256];

	fill(data, sizeof(data), 3);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		struct rdma_conn_param request = cm_param(data, sizes[i][0]);
		struct rdma_conn_param reply = cm_param(data, sizes[i][1]);

		cm_connect(cm.client.id, &request);
		struct cm_news news = cm_take_request();
		assert_padded(&news, data, sizes[i][0], REQ_DATA);
		cm.server.id = news.id;
		cm_accept(cm.server.id, &reply);
		news = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
		assert_padded(&news, data, sizes[i][1], REP_DATA);
		news = cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
		assert_int_equal(news.conn.private_data_len, 0);
		teardown_cm(unused);
		setup_cm(unused);
	}
}

static void private_data__too_long_is_refused(void **unused)
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

static void reject__tells_why(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	unsigned char data[REJ_DATA];

	fill(data, sizeof(data), 3);
	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	OK(rdma_reject(cm.server.id, data, 20));
	struct cm_news news = cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(news.id, cm.client.id);
	assert_int_equal(news.status, REJECTED_BY_CONSUMER);
	assert_padded(&news, data, 20, REJ_DATA);
	cm_expect_nothing(cm.server.channel);
	/* the id cannot be accepted now */
	FAILS(EINVAL, rdma_accept(cm.server.id, &param));
}

static void reject__needs_no_data(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	OK(rdma_reject(cm.server.id, NULL, 0));
	assert_int_equal(cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED).status,
			 REJECTED_BY_CONSUMER);
}

static void destroyed__request_is_rejected(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_connect(cm.client.id, &param);
	OK(rdma_destroy_id(cm_take_request().id));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
}

static void port__without_listener_rejects(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	cm_connect(cm.client.id, &param);
	struct cm_news news = cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	assert_ptr_equal(news.id, cm.client.id);
	assert_int_equal(news.status, REJECTED_NO_LISTENER);
}

/* A bound id that does not listen is no listener. */
static void port__only_bound_rejects(void **unused)
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

static void parameters__arrive_from_the_other_view(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	param.responder_resources = 5;
	param.initiator_depth = 2;
	param.retry_count = 4;
	param.rnr_retry_count = 3;
	cm_connect(cm.client.id, &param);
	struct cm_news news = cm_take_request();
	assert_int_equal(news.conn.responder_resources, 2);
	assert_int_equal(news.conn.initiator_depth, 5);
	assert_int_equal(news.conn.retry_count, 4);
	assert_int_equal(news.conn.rnr_retry_count, 3);
	assert_int_equal(news.conn.qp_num, cm.client.id->qp->qp_num);
	cm.server.id = news.id;
	param.responder_resources = 1;
	param.initiator_depth = 1;
	cm_accept(cm.server.id, &param);
	news = cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	assert_int_equal(news.conn.responder_resources, 1);
	assert_int_equal(news.conn.initiator_depth, 1);
	assert_int_equal(news.conn.qp_num, cm.server.id->qp->qp_num);
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

static void disconnect__by_the_client_tells_both(void **unused)
{
	disconnect_tells(&cm.client, &cm.server);
}

static void disconnect__by_the_server_tells_both(void **unused)
{
	disconnect_tells(&cm.server, &cm.client);
}

static void disconnect__at_both_ends_at_once(void **unused)
{
	OK(rdma_disconnect(cm.client.id));
	OK(rdma_disconnect(cm.server.id));
	cm_expect(cm.client.channel, RDMA_CM_EVENT_DISCONNECTED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void disconnect__ends_in_timewait_exit(void **unused)
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

static void destroy_id__of_one_end_disconnects_the_other(void **unused)
{
	OK(ibv_dereg_mr(cm.client.mr));
	rdma_destroy_qp(cm.client.id);
	OK(rdma_destroy_id(cm.client.id));
	cm.client.mr = NULL;
	cm.client.id = NULL;
	cm_expect(cm.server.channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void listener__may_go_once_connected(void **unused)
{
	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	cm_send_works(&cm.client, &cm.server);
}

static void ports__are_chosen_and_told(void **unused)
{
	struct rdma_cm_id *other = cm_listen(cm.server.channel, test_addr(), 1);

	assert_int_not_equal(rdma_get_src_port(cm.listener), 0);
	assert_int_not_equal(rdma_get_src_port(other), 0);
	assert_int_not_equal(rdma_get_src_port(other), rdma_get_src_port(cm.listener));
	OK(rdma_destroy_id(other));
}

static void port__in_use_is_refused(void **unused)
{
	struct sockaddr_storage room;

	FAILS(EADDRINUSE, rdma_bind_addr(cm.client.id, test_sockaddr(test_addr(), cm.port, &room)));
}

static void port__is_free_after_its_listener(void **unused)
{
	struct sockaddr_storage room;
	struct rdma_cm_id *id = cm_id(cm.server.channel);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = id;
	OK(rdma_bind_addr(id, test_sockaddr(test_addr(), cm.port, &room)));
	OK(rdma_listen(id, 1));
}

static void bind__to_a_foreign_address_is_refused(void **unused)
{
	struct sockaddr_storage room;

	/* TEST-NET-3 of RFC 5737: nobody's */
	int result = rdma_bind_addr(cm.client.id, test_sockaddr("203.0.113.1", 0, &room));
	assert_int_equal(result, -1);
	assert_true(errno == EADDRNOTAVAIL || errno == ENODEV);
}

static void listen__on_any_address_serves_this_one(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	OK(rdma_destroy_id(cm.listener));
	cm.listener = cm_listen(cm.server.channel, "0.0.0.0", 1);
	cm.port = ntohs(rdma_get_src_port(cm.listener));
	assert_null(cm.listener->verbs);
	cm_connect(cm.client.id, &param);
	cm.server.id = cm_take_request().id;
	assert_non_null(cm.server.id->verbs);
	cm_accept(cm.server.id, &param);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void requests__wait_in_the_backlog(void **unused)
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

static void channel__nonblocking_has_no_event(void **unused)
{
	struct rdma_cm_event *event = NULL;

	make_nonblocking(cm.client.channel->fd);
	cm_expect_nothing(cm.client.channel);
	FAILS(EAGAIN, rdma_get_cm_event(cm.client.channel, &event));
	cm_resolve(cm.client.id, test_addr(), cm.port);
	FAILS(EAGAIN, rdma_get_cm_event(cm.client.channel, &event));
}

static void migrate__takes_later_events_along(void **unused)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.client.id, other));
	assert_ptr_equal(cm.client.id->channel, other);
	cm_resolve(cm.client.id, test_addr(), cm.port);
	cm_expect_nothing(cm.client.channel);
	OK(rdma_migrate_id(cm.client.id, cm.client.channel));
	rdma_destroy_event_channel(other);
}

static void migrate__takes_waiting_events_along(void **unused)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_migrate_id(cm.client.id, other));
	cm_expect_nothing(cm.client.channel);
	assert_ptr_equal(cm_expect(other, RDMA_CM_EVENT_ADDR_RESOLVED).id, cm.client.id);
	OK(rdma_migrate_id(cm.client.id, cm.client.channel));
	rdma_destroy_event_channel(other);
}

static void migrated__connection_is_told_of_its_end(void **unused)
{
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.server.id, other));
	OK(rdma_disconnect(cm.client.id));
	assert_ptr_equal(cm_expect(other, RDMA_CM_EVENT_DISCONNECTED).id, cm.server.id);
	cm_expect_nothing(cm.server.channel);
	rdma_destroy_qp(cm.server.id);
	OK(ibv_dereg_mr(cm.server.mr));
	OK(rdma_destroy_id(cm.server.id));
	cm.server.id = NULL;
	cm.server.mr = NULL;
	rdma_destroy_event_channel(other);
}

static void migrated__listener_hears_on_the_new_channel(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_event_channel *other = rdma_create_event_channel();

	OK(rdma_migrate_id(cm.listener, other));
	cm_connect(cm.client.id, &param);
	struct cm_news news = cm_expect(other, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(news.id->channel, other);
	cm_expect_nothing(cm.server.channel);
	OK(rdma_destroy_id(news.id));
	OK(rdma_destroy_id(cm.listener));
	cm.listener = NULL;
	rdma_destroy_event_channel(other);
}

static void listeners__get_their_own_requests(void **unused)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_id *other = cm_listen(cm.server.channel, test_addr(), 1);

	cm_resolve(cm.client.id, test_addr(), ntohs(rdma_get_src_port(other)));
	cm_make_qp(cm.client.id);
	OK(rdma_connect(cm.client.id, &param));
	struct cm_news news = cm_expect(cm.server.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_ptr_equal(news.listen_id, other);
	OK(rdma_destroy_id(news.id));
	OK(rdma_destroy_id(other));
}

/* A bound client comes from the port it chose. */
static void resolve__keeps_the_port_of_a_bound_id(void **unused)
{
	struct sockaddr_storage room;

	OK(rdma_bind_addr(cm.client.id, test_sockaddr(test_addr(), 0, &room)));
	uint16_t port = rdma_get_src_port(cm.client.id);
	assert_int_not_equal(port, 0);
	assert_non_null(cm.client.id->verbs);
	cm_make_pair(test_addr());
	assert_int_equal(rdma_get_src_port(cm.client.id), port);
	assert_int_equal(rdma_get_dst_port(cm.server.id), port);
}

static void connect__again_after_a_rejection(void **unused)
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

struct destroyer {
	struct rdma_cm_id *id;
	int result;
};

static void *destroy_id(void *argument)
{
	struct destroyer *destroyer = argument;

	destroyer->result = rdma_destroy_id(destroyer->id);
	return NULL;
}

/* rdma_destroy_id(3): "Users must ... acknowledge an associated events"; it waits. */
static void destroy_id__waits_for_the_ack(void **unused)
{
	struct destroyer destroyer = {cm.client.id, -2};
	struct rdma_cm_event *event = NULL;
	struct sockaddr_storage room;
	pthread_t thread;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_get_cm_event(cm.client.channel, &event));
	OK(pthread_create(&thread, NULL, destroy_id, &destroyer));
	assert_int_equal(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
	assert_ptr_equal(event->id, cm.client.id); /* it is still there */
	OK(rdma_ack_cm_event(event));
	OK(pthread_join(thread, NULL));
	cm.client.id = NULL;
	assert_int_equal(destroyer.result, 0);
}

/* Events nobody took go with their id. */
static void destroy_id__drops_its_waiting_events(void **unused)
{
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), cm.port, &room), 5000));
	wait_readable(cm.client.channel->fd, "an event of the RDMA CM");
	OK(rdma_destroy_id(cm.client.id));
	cm.client.id = NULL;
	cm_expect_nothing(cm.client.channel);
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

static void own_qp__is_established_by_hand(void **unused)
{
	struct rdma_conn_param param = cm_param("hello", 6);
	struct ibv_cq *client_cq = NULL, *server_cq = NULL;

	cm_resolve(cm.client.id, test_addr(), cm.port);
	struct ibv_qp *client = own_qp(cm.client.id, &client_cq);
	assert_non_null(client);
	move_qp(cm.client.id, client, IBV_QPS_INIT);
	param.qp_num = client->qp_num;
	OK(rdma_connect(cm.client.id, &param));

	struct cm_news news = cm_take_request();
	cm.server.id = news.id;
	assert_int_equal(news.conn.qp_num, client->qp_num);
	struct ibv_qp *server = own_qp(cm.server.id, &server_cq);
	assert_non_null(server);
	move_qp(cm.server.id, server, IBV_QPS_INIT);
	move_qp(cm.server.id, server, IBV_QPS_RTR);
	move_qp(cm.server.id, server, IBV_QPS_RTS);
	param.qp_num = server->qp_num;
	OK(rdma_accept(cm.server.id, &param));

	news = cm_expect(cm.client.channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	assert_int_equal(news.conn.qp_num, server->qp_num);
	assert_padded(&news, (const unsigned char *)"hello", 6, REP_DATA);
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

static void event_strings__are_those_of_the_manual(void **unused)
{
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_ADDR_RESOLVED),
			    "RDMA_CM_EVENT_ADDR_RESOLVED");
	assert_string_equal(rdma_event_str(RDMA_CM_EVENT_TIMEWAIT_EXIT),
			    "RDMA_CM_EVENT_TIMEWAIT_EXIT");
	assert_string_equal(rdma_event_str((enum rdma_cm_event_type)99), "UNKNOWN EVENT");
}

static void set_option__takes_what_programs_set(void **unused)
{
	int one = 1;
	uint8_t timeout = 16, tos = 0;

	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one,
			   sizeof(one)));
	OK(rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
			   sizeof(timeout)));
	FAILS(ENOSYS, rdma_set_option(cm.client.id, 99, 0, &one, sizeof(one)));
	FAILS(EINVAL,
	      rdma_set_option(cm.client.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &one, sizeof(one)));
}

static const struct CMUnitTest tests[] = {
	CM_TEST(create_id__fills_in_what_is_known),
	CM_TEST(create_id__refuses_port_spaces_it_does_not_know),
	CM_TEST(resolve__finds_device_and_address),
	CM_TEST(resolve__shares_the_context_of_a_device),
	CM_TEST(get_devices__has_that_of_the_id),
	CM_TEST(steps__cannot_be_left_out),
	CM_TEST(connect__establishes_both_ends),
	CM_PAIR_TEST(established__ends_send_both_ways),
	CM_PAIR_TEST(qp__of_the_id_goes_to_rts),
	CM_TEST(create_qp__makes_one_in_init_and_its_queues),
	CM_TEST(private_data__arrives_padded),
	CM_TEST(private_data__too_long_is_refused),
	CM_TEST(reject__tells_why),
	CM_TEST(reject__needs_no_data),
	CM_TEST(destroyed__request_is_rejected),
	CM_TEST(port__without_listener_rejects),
	CM_TEST(port__only_bound_rejects),
	CM_TEST(parameters__arrive_from_the_other_view),
	CM_PAIR_TEST(disconnect__by_the_client_tells_both),
	CM_PAIR_TEST(disconnect__by_the_server_tells_both),
	CM_PAIR_TEST(disconnect__at_both_ends_at_once),
	CM_PAIR_TEST(disconnect__ends_in_timewait_exit),
	CM_PAIR_TEST(destroy_id__of_one_end_disconnects_the_other),
	CM_PAIR_TEST(listener__may_go_once_connected),
	CM_TEST(ports__are_chosen_and_told),
	CM_TEST(port__in_use_is_refused),
	CM_TEST(port__is_free_after_its_listener),
	CM_TEST(bind__to_a_foreign_address_is_refused),
	CM_TEST(listen__on_any_address_serves_this_one),
	CM_TEST(requests__wait_in_the_backlog),
	CM_TEST(channel__nonblocking_has_no_event),
	CM_TEST(migrate__takes_later_events_along),
	CM_TEST(migrate__takes_waiting_events_along),
	CM_PAIR_TEST(migrated__connection_is_told_of_its_end),
	CM_TEST(destroy_id__waits_for_the_ack),
	CM_TEST(destroy_id__drops_its_waiting_events),
	CM_TEST(create_qp__takes_queues_of_the_program),
	CM_TEST(create_qp__refuses_a_pd_of_another_context),
	CM_TEST(create_qp_ex__makes_an_extended_one),
	CM_TEST(create_srq__is_taken_by_the_qp),
	CM_TEST(migrated__listener_hears_on_the_new_channel),
	CM_TEST(listeners__get_their_own_requests),
	CM_TEST(resolve__keeps_the_port_of_a_bound_id),
	CM_TEST(connect__again_after_a_rejection),
	CM_TEST(own_qp__is_established_by_hand),
	CM_TEST(event_strings__are_those_of_the_manual),
	CM_TEST(set_option__takes_what_programs_set),
};

DEVICE_TESTS("cm_async", tests)
