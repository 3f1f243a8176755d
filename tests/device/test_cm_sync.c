/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cm_sync.c -- ids without an event channel: every call waits for its event
 * itself. The server end is a thread; it reports, and the test judges.
 */
#include "cm.h"

#include <arpa/inet.h>
#include <pthread.h>

static struct rdma_cm_id *listener;
static uint16_t port;

struct server {
	bool rejects;
	struct rdma_cm_id *id;
	struct rdma_conn_param seen;
	int get_request, answer;
	enum rdma_cm_event_type event;
	int error;
};

static struct server server;
static pthread_t server_thread;

static int make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	return rdma_create_qp(id, NULL, &attr);
}

static void *serve(void *unused)
{
	struct rdma_conn_param param = cm_param("reply", 6);

	server.get_request = rdma_get_request(listener, &server.id);
	if (server.get_request != 0)
		return NULL;
	server.event = server.id->event->event;
	server.seen = server.id->event->param.conn;
	if (server.rejects)
		server.answer = rdma_reject(server.id, "no", 3);
	else
		server.answer = make_qp(server.id) || rdma_accept(server.id, &param);
	server.error = errno;
	return NULL;
}

static void start_server(bool rejects)
{
	server.rejects = rejects;
	OK(pthread_create(&server_thread, NULL, serve, NULL));
}

static void join_server(void)
{
	OK(pthread_join(server_thread, NULL));
	assert_int_equal(server.get_request, 0);
	if (server.answer != 0)
		fail_msg("the server's answer failed: %s", strerror(server.error));
}

static int setup_sync(void **unused)
{
	struct sockaddr_storage room;

	memset(&server, 0, sizeof(server));
	OK(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP));
	OK(rdma_bind_addr(listener, test_sockaddr(test_addr(), 0, &room)));
	OK(rdma_listen(listener, 4));
	port = ntohs(rdma_get_src_port(listener));
	OK(rdma_create_id(NULL, &cm.client.id, NULL, RDMA_PS_TCP));
	return 0;
}

static void close_id(struct rdma_cm_id **id)
{
	if (*id != NULL && (*id)->qp != NULL)
		rdma_destroy_qp(*id);
	if (*id != NULL)
		OK(rdma_destroy_id(*id));
	*id = NULL;
}

static int teardown_sync(void **unused)
{
	close_id(&cm.client.id);
	close_id(&server.id);
	close_id(&listener);
	return 0;
}

static void resolve_client(void)
{
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(cm.client.id, NULL, test_sockaddr(test_addr(), port, &room), 5000));
	assert_non_null(cm.client.id->verbs);
	OK(rdma_resolve_route(cm.client.id, 5000));
	OK(make_qp(cm.client.id));
}

TEST(create_id__has_a_channel_of_its_own, setup_sync, teardown_sync)
{
	assert_non_null(cm.client.id->channel);
	assert_ptr_not_equal(cm.client.id->channel, listener->channel);
}

TEST(connect__returns_when_established, setup_sync, teardown_sync)
{
	struct rdma_conn_param param = cm_param("request", 8);

	start_server(false);
	resolve_client();
	OK(rdma_connect(cm.client.id, &param));
	join_server();
	assert_int_equal(server.event, RDMA_CM_EVENT_CONNECT_REQUEST);
	assert_int_equal(server.seen.private_data_len, REQ_DATA);
	assert_non_null(cm.client.id->event);
	assert_int_equal(cm.client.id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	assert_string_equal(cm.client.id->event->param.conn.private_data, "reply");
	assert_int_equal(server.id->event->event, RDMA_CM_EVENT_ESTABLISHED);
}

TEST(connect__tells_of_a_rejection, setup_sync, teardown_sync)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	start_server(true);
	resolve_client();
	FAILS(ECONNREFUSED, rdma_connect(cm.client.id, &param));
	join_server();
	assert_int_equal(cm.client.id->event->event, RDMA_CM_EVENT_REJECTED);
	assert_string_equal(cm.client.id->event->param.conn.private_data, "no");
}

TEST(connect__tells_of_a_port_without_listener, setup_sync, teardown_sync)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct sockaddr_storage room;
	struct rdma_cm_id *bound = NULL; /* so that no other program listens there */

	OK(rdma_create_id(NULL, &bound, NULL, RDMA_PS_TCP));
	OK(rdma_bind_addr(bound, test_sockaddr(test_addr(), 0, &room)));
	port = ntohs(rdma_get_src_port(bound));
	resolve_client();
	FAILS(ECONNREFUSED, rdma_connect(cm.client.id, &param));
	OK(rdma_destroy_id(bound));
}

static void *disconnect_server(void *unused)
{
	server.answer = rdma_disconnect(server.id);
	server.error = errno;
	return NULL;
}

static void connect_both(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	start_server(false);
	resolve_client();
	OK(rdma_connect(cm.client.id, &param));
	join_server();
}

/* Each waits for the other one to disconnect as well. */
TEST(disconnect__returns_when_both_have, setup_sync, teardown_sync)
{
	connect_both();
	OK(pthread_create(&server_thread, NULL, disconnect_server, NULL));
	OK(rdma_disconnect(cm.client.id));
	join_server();
}

TEST(connected__id_moves_to_a_channel_and_back, setup_sync, teardown_sync)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	connect_both();
	OK(rdma_migrate_id(cm.client.id, channel));
	assert_ptr_equal(cm.client.id->channel, channel);
	cm_expect_nothing(channel);
	OK(pthread_create(&server_thread, NULL, disconnect_server, NULL));
	assert_ptr_equal(cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED).id, cm.client.id);
	OK(rdma_disconnect(cm.client.id));
	join_server();
	OK(rdma_migrate_id(cm.client.id, NULL));
	assert_ptr_not_equal(cm.client.id->channel, channel);
	assert_non_null(cm.client.id->channel);
	rdma_destroy_event_channel(channel);
}

/* A request comes up as an id in the listener's mode. */
TEST(get_request__gives_a_synchronous_id, setup_sync, teardown_sync)
{
	connect_both();
	assert_non_null(server.id->channel);
	assert_ptr_not_equal(server.id->channel, listener->channel);
}
