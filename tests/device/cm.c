/* SPDX-License-Identifier: BSD-3-Clause */
/* cm.c -- see cm.h. */
#include "cm.h"

#include <arpa/inet.h>
#include <string.h>

struct cm cm;

struct cm_event cm_next(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event = NULL;
	struct cm_event copy = {0};

	wait_readable(channel->fd, "an event of the RDMA CM");
	OK(rdma_get_cm_event(channel, &event));
	copy.type = event->event;
	copy.status = event->status;
	copy.id = event->id;
	copy.listen_id = event->listen_id;
	copy.conn = event->param.conn;
	if (copy.conn.private_data != NULL)
		memcpy(copy.private_data, copy.conn.private_data, copy.conn.private_data_len);
	copy.conn.private_data = NULL;
	OK(rdma_ack_cm_event(event));
	return copy;
}

struct cm_event cm_expect(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct cm_event event = cm_next(channel);

	if (event.type != type)
		fail_msg("%s (status %d), expected %s", rdma_event_str(event.type), event.status,
			 rdma_event_str(type));
	return event;
}

void cm_expect_nothing(struct rdma_event_channel *channel)
{
	assert_false(is_readable(channel->fd));
}

struct rdma_cm_id *cm_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = NULL;

	OK(rdma_create_id(channel, &id, &cm, RDMA_PS_TCP));
	return id;
}

struct rdma_cm_id *cm_listen(struct rdma_event_channel *channel, const char *addr, int backlog)
{
	struct rdma_cm_id *id = cm_id(channel);
	struct sockaddr_storage room;

	OK(rdma_bind_addr(id, test_sockaddr(addr, 0, &room)));
	OK(rdma_listen(id, backlog));
	return id;
}

void cm_resolve(struct rdma_cm_id *id, const char *addr, uint16_t port)
{
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(id, NULL, test_sockaddr(addr, port, &room), WAIT_S * 1000));
	assert_ptr_equal(cm_expect(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED).id, id);
	OK(rdma_resolve_route(id, WAIT_S * 1000));
	assert_ptr_equal(cm_expect(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED).id, id);
}

void cm_make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};

	OK(rdma_create_qp(id, NULL, &attr));
}

struct rdma_conn_param cm_param(const void *data, size_t size)
{
	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = (uint8_t)size,
		.responder_resources = 4,
		.initiator_depth = 3,
		.retry_count = 6,
		.rnr_retry_count = 7,
	};
}

void cm_connect(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct rdma_conn_param copy = *param;

	cm_resolve(id, test_addr(), cm.port);
	cm_make_qp(id);
	OK(rdma_connect(id, &copy));
}

struct cm_event cm_take_request(void)
{
	struct cm_event event = cm_expect(cm.server.channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	assert_ptr_equal(event.listen_id, cm.listener);
	assert_ptr_not_equal(event.id, cm.listener);
	return event;
}

void cm_accept(struct rdma_cm_id *id, const struct rdma_conn_param *param)
{
	struct rdma_conn_param copy = *param;

	cm_make_qp(id);
	OK(rdma_accept(id, &copy));
}

static void register_memory(struct cm_end *end)
{
	end->mr = ibv_reg_mr(end->id->pd, end->memory, CM_MEMORY,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ);
	assert_non_null(end->mr);
}

int setup_cm(void **unused)
{
	(void)unused;
	cm.server.channel = rdma_create_event_channel();
	cm.client.channel = rdma_create_event_channel();
	assert_non_null(cm.server.channel);
	assert_non_null(cm.client.channel);
	cm.listener = cm_listen(cm.server.channel, test_addr(), 10);
	cm.port = ntohs(rdma_get_src_port(cm.listener));
	cm.client.id = cm_id(cm.client.channel);
	return 0;
}

void cm_make_pair(const char *addr)
{
	struct rdma_conn_param param = cm_param(NULL, 0);

	cm_resolve(cm.client.id, addr, cm.port);
	cm_make_qp(cm.client.id);
	OK(rdma_connect(cm.client.id, &param));
	cm.server.id = cm_take_request().id;
	cm_accept(cm.server.id, &param);
	cm_expect(cm.client.channel, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(cm.server.channel, RDMA_CM_EVENT_ESTABLISHED);
	register_memory(&cm.client);
	register_memory(&cm.server);
}

int setup_cm_pair(void **unused)
{
	setup_cm(unused);
	cm_make_pair(test_addr());
	return 0;
}

static void close_end(struct cm_end *end)
{
	if (end->mr != NULL)
		OK(ibv_dereg_mr(end->mr));
	if (end->id != NULL && end->id->qp != NULL)
		rdma_destroy_qp(end->id);
	if (end->id != NULL)
		OK(rdma_destroy_id(end->id));
	if (end->channel != NULL)
		rdma_destroy_event_channel(end->channel);
}

int teardown_cm(void **unused)
{
	(void)unused;
	if (cm.listener != NULL)
		OK(rdma_destroy_id(cm.listener));
	close_end(&cm.client);
	close_end(&cm.server);
	memset(&cm, 0, sizeof(cm));
	return 0;
}

void cm_post_recv(struct cm_end *end, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)end->memory, 256, end->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad = NULL;

	OK(ibv_post_recv(end->id->qp, &wr, &bad));
}

void cm_send_works(struct cm_end *from, struct cm_end *to)
{
	struct ibv_sge sge = {(uintptr_t)(from->memory + 1024), 100, from->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad = NULL;

	fill(from->memory + 1024, 100, 5);
	memset(to->memory, 0, 100);
	cm_post_recv(to, 2);
	OK(ibv_post_send(from->id->qp, &wr, &bad));
	EXPECT_WC(from->id->send_cq, 1, IBV_WC_SUCCESS);
	EXPECT_WC(to->id->recv_cq, 2, IBV_WC_SUCCESS);
	assert_memory_equal(to->memory, from->memory + 1024, 100);
}
