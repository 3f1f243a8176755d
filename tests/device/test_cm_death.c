/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cm_death.c -- a process that vanishes, by SIGKILL or without releasing
 * anything: its peers learn of it and nothing hangs.
 */
#include "cm.h"
#include "pair.h"

#include <arpa/inet.h>

static int setup_partner(void **unused)
{
	setup_cm(unused);
	partner_start();
	return 0;
}

static int teardown_partner(void **unused)
{
	teardown_cm(unused);
	teardown_pair(unused);
	return 0;
}

static struct partner_answer order(enum partner_verb verb, enum rdma_cm_event_type event)
{
	struct partner_order order = {.verb = verb, .cm_event = event, .port = cm.port};

	return far_do(&order);
}

static struct ibv_mr *register_memory(struct cm_end *end)
{
	end->mr = ibv_reg_mr(end->id->pd, end->memory, CM_MEMORY, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(end->mr);
	return end->mr;
}

/* The partner connects with us. */
static void partner_is_client(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	order(PARTNER_CM_CONNECT, 0);
	cm.server.id = cm_take_request().id;
	cm_accept(cm.server.id, &param);
	order(PARTNER_CM_EVENT, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	register_memory(&cm.server);
	cm_post_recv(&cm.server, 7);
}

/* We connect with the partner. */
static void partner_is_server(void)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm.port = order(PARTNER_CM_LISTEN, 0).port;
	cm_connect(cm.client.id, &param);
	order(PARTNER_CM_ACCEPT, 0);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	order(PARTNER_CM_EVENT, RDMA_CM_EVENT_ESTABLISHED);
	register_memory(&cm.client);
	cm_post_recv(&cm.client, 7);
}

/* It is told, and what was posted is flushed, at the latest by rdma_disconnect(). */
static void expect_disconnected(struct cm_end *end)
{
	assert_ptr_equal(cm_expect(end->channel, RDMA_CM_EVENT_DISCONNECTED).id, end->id);
	OK(rdma_disconnect(end->id));
	EXPECT_WC(end->id->recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
}

TEST(client__that_leaves_disconnects, setup_partner, teardown_partner)
{
	partner_is_client();
	far_leave();
	expect_disconnected(&cm.server);
}

TEST(server__killed_disconnects, setup_partner, teardown_partner)
{
	partner_is_server();
	far_die();
	expect_disconnected(&cm.client);
}

TEST(server__that_leaves_disconnects, setup_partner, teardown_partner)
{
	partner_is_server();
	far_leave();
	expect_disconnected(&cm.client);
}

TEST(request__to_a_killed_peer_fails, setup_partner, teardown_partner)
{
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	partner_is_server();
	far_die();
	OK(ibv_post_send(cm.client.id->qp, &wr, &bad));
	struct ibv_wc wc = next_wc(cm.client.id->send_cq);
	assert_int_equal(wc.wr_id, 1);
	assert_true(wc.status == IBV_WC_RETRY_EXC_ERR || wc.status == IBV_WC_WR_FLUSH_ERR);
}

TEST(server__killed_before_it_answers_rejects, setup_partner, teardown_partner)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm.port = order(PARTNER_CM_LISTEN, 0).port;
	cm_connect(cm.client.id, &param);
	far_die();
	cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
}

/* The server is told that nothing comes of it, whether it accepts or not. */
TEST(client__killed_before_the_answer_is_told, setup_partner, teardown_partner)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	NOT_ON_RXE(
		"the kernel repeats an answer to the dead client 15 times, for more than a minute");
	order(PARTNER_CM_CONNECT, 0);
	cm.server.id = cm_take_request().id;
	cm_make_qp(cm.server.id);
	far_die();
	if (rdma_accept(cm.server.id, &param) == 0)
		assert_int_not_equal(cm_next(cm.server.channel).type, RDMA_CM_EVENT_ESTABLISHED);
	else
		assert_int_equal(cm_next(cm.server.channel).type, RDMA_CM_EVENT_REJECTED);
}

TEST(port__of_a_killed_server_is_free, setup_partner, teardown_partner)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct sockaddr_storage room;

	cm.port = order(PARTNER_CM_LISTEN, 0).port;
	far_die();
	OK(rdma_destroy_id(cm.listener));
	cm.listener = cm_id(cm.server.channel);
	OK(rdma_bind_addr(cm.listener, test_sockaddr(test_addr(), cm.port, &room)));
	/* only bound, it is not a listener, and no other process gets the port meanwhile */
	cm_connect(cm.client.id, &param);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_REJECTED);
	OK(rdma_listen(cm.listener, 1));
}

TEST(other__connections_stay, setup_partner, teardown_partner)
{
	struct cm_end survivor;

	partner_is_client();
	survivor = cm.server;
	memset(&cm.server, 0, sizeof(cm.server));
	cm.server.channel = survivor.channel;
	cm_make_pair(test_addr());
	far_die();
	expect_disconnected(&survivor);
	cm_send_works(&cm.client, &cm.server);
	OK(ibv_dereg_mr(survivor.mr));
	rdma_destroy_qp(survivor.id);
	OK(rdma_destroy_id(survivor.id));
}
