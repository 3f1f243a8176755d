/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cm_ud.c -- RDMA_PS_UDP: a client asks for the queue pair behind a port, and groups.
 * The sizes are those of the kernel: 216 and 136 bytes of SIDR, less its own 36 in a request.
 */
#include "ud.h"

#include <arpa/inet.h>

#define REQ_DATA 180
#define REP_DATA 136
#define QKEY	 0x01234567 /* RDMA_UDP_QKEY */
#define REJECTED 2	    /* IB_SIDR_REJECT of include/rdma/ib_cm.h */
#define NO_SUCH	 1	    /* IB_SIDR_UNSUPPORTED */

/* A copy of an event, which is acknowledged. */
struct told {
	enum rdma_cm_event_type type;
	int status;
	struct rdma_cm_id *id;
	struct rdma_ud_param ud; /* private_data points nowhere, but for a group's context */
	unsigned char data[256];
};

static struct {
	struct rdma_event_channel *client_channel, *server_channel;
	struct rdma_cm_id *client, *listener, *server;
	struct ibv_mr *mr;
	unsigned char memory[4096];
} cm;

static struct told next(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = NULL;
	struct told told = {0};

	wait_readable(channel->fd, "an event of the RDMA CM");
	OK(rdma_get_cm_event(channel, &event));
	if (event->event != type)
		fail_msg("%s (status %d), expected %s", rdma_event_str(event->event), event->status,
			 rdma_event_str(type));
	told.type = event->event;
	told.status = event->status;
	told.id = event->id;
	told.ud = event->param.ud;
	if (type != RDMA_CM_EVENT_MULTICAST_JOIN && told.ud.private_data != NULL)
		memcpy(told.data, told.ud.private_data, told.ud.private_data_len);
	OK(rdma_ack_cm_event(event));
	return told;
}

static struct rdma_cm_id *new_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id = NULL;

	OK(rdma_create_id(channel, &id, NULL, RDMA_PS_UDP));
	assert_int_equal(id->qp_type, IBV_QPT_UD);
	return id;
}

static int setup_ids(void **unused)
{
	struct sockaddr_storage room;

	memset(&cm, 0, sizeof(cm));
	cm.client_channel = rdma_create_event_channel();
	cm.server_channel = rdma_create_event_channel();
	assert_non_null(cm.client_channel);
	assert_non_null(cm.server_channel);
	cm.client = new_id(cm.client_channel);
	cm.listener = new_id(cm.server_channel);
	OK(rdma_bind_addr(cm.listener, test_sockaddr(test_addr(), 0, &room)));
	OK(rdma_listen(cm.listener, 4));
	return 0;
}

static void let_go(struct rdma_cm_id **id)
{
	if (*id == NULL)
		return;
	if ((*id)->qp != NULL)
		rdma_destroy_qp(*id);
	OK(rdma_destroy_id(*id));
	*id = NULL;
}

static int teardown_ids(void **unused)
{
	if (cm.mr != NULL)
		OK(ibv_dereg_mr(cm.mr));
	let_go(&cm.client);
	let_go(&cm.server);
	let_go(&cm.listener);
	rdma_destroy_event_channel(cm.client_channel);
	rdma_destroy_event_channel(cm.server_channel);
	return 0;
}

static void resolve_address(struct rdma_cm_id *id, uint16_t port)
{
	struct sockaddr_storage room;

	OK(rdma_resolve_addr(id, NULL, test_sockaddr(test_addr(), port, &room), WAIT_S * 1000));
	next(id->channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void resolve(struct rdma_cm_id *id, uint16_t port)
{
	resolve_address(id, port);
	OK(rdma_resolve_route(id, WAIT_S * 1000));
	next(id->channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
	};

	OK(rdma_create_qp(id, NULL, &attr));
}

static void ask(const void *data, size_t bytes)
{
	struct rdma_conn_param param = {.private_data = data, .private_data_len = (uint8_t)bytes};

	resolve(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	make_qp(cm.client);
	OK(rdma_connect(cm.client, &param));
}

static struct told take_request(void)
{
	struct told request = next(cm.server_channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	cm.server = request.id;
	EQUAL((cm.server->qp_type, IBV_QPT_UD), (request.ud.private_data_len, REQ_DATA));
	return request;
}

/* The server's queue pair, as the client is told. */
static struct told connect_both(void)
{
	struct rdma_conn_param param = {.private_data = "yes", .private_data_len = 3};

	ask("hello", 5);
	take_request();
	make_qp(cm.server);
	param.qp_num = cm.server->qp->qp_num;
	OK(rdma_accept(cm.server, &param));
	return next(cm.client_channel, RDMA_CM_EVENT_ESTABLISHED);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	OK(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

TEST(client__is_told_the_queue_pair, setup_ids, teardown_ids)
{
	struct told told = connect_both();

	EQUAL((told.status, 0), (told.ud.qp_num, cm.server->qp->qp_num), (told.ud.qkey, QKEY),
	      (told.ud.ah_attr.is_global, 1), (told.ud.ah_attr.port_num, 1),
	      (told.ud.private_data_len, REP_DATA));
	assert_memory_equal(told.data, "yes\0", 4);
}

TEST(private_data__of_the_request_arrive, setup_ids, teardown_ids)
{
	unsigned char data[REQ_DATA];

	fill(data, sizeof(data), 5);
	ask(data, sizeof(data));
	assert_memory_equal(take_request().data, data, sizeof(data));
}

TEST(queue_pair__is_ready_at_once, setup_ids, teardown_ids)
{
	struct ibv_qp_init_attr attr = {.cap = {1, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};

	resolve(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	FAILS(EINVAL, rdma_create_qp(cm.client, NULL, &attr));
	make_qp(cm.client);
	assert_int_equal(state_of(cm.client->qp), IBV_QPS_RTS);
}

TEST(datagram__goes_where_the_event_tells, setup_ids, teardown_ids)
{
	struct told told = connect_both();
	struct ibv_ah *ah = ibv_create_ah(cm.client->pd, &told.ud.ah_attr);
	struct ibv_sge sge = {(uintptr_t)cm.memory, 64, 0};
	struct ibv_recv_wr recv = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad_recv = NULL;
	struct ibv_send_wr send =
				   {
					   .wr_id = 1,
					   .sg_list = &sge,
					   .num_sge = 1,
					   .opcode = IBV_WR_SEND,
					   .send_flags = IBV_SEND_SIGNALED,
					   .wr.ud = {ah, told.ud.qp_num, told.ud.qkey},
				   },
			   *bad = NULL;

	assert_non_null(ah);
	cm.mr = ibv_reg_mr(cm.server->pd, cm.memory, sizeof(cm.memory), IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(cm.mr);
	sge.lkey = cm.mr->lkey;
	OK(ibv_post_recv(cm.server->qp, &recv, &bad_recv));
	sge.addr += 1024;
	sge.length = 24;
	fill(cm.memory + 1024, 24, 3);
	OK(ibv_post_send(cm.client->qp, &send, &bad));
	EXPECT_WC(cm.client->send_cq, 1, IBV_WC_SUCCESS);
	assert_int_equal(EXPECT_WC(cm.server->recv_cq, 7, IBV_WC_SUCCESS).src_qp,
			 cm.client->qp->qp_num);
	assert_memory_equal(cm.memory + GRH, cm.memory + 1024, 24);
	OK(ibv_destroy_ah(ah));
}

TEST(rejection__is_told_as_unreachable, setup_ids, teardown_ids)
{
	struct told told;

	ask("hello", 5);
	take_request();
	OK(rdma_reject(cm.server, "no", 2));
	told = next(cm.client_channel, RDMA_CM_EVENT_UNREACHABLE);
	assert_int_equal(told.status, REJECTED);
	assert_memory_equal(told.data, "no\0", 3);
}

/* The port is kept, so that no other process listens on it meanwhile. */
TEST(port__of_nobody_is_unreachable, setup_ids, teardown_ids)
{
	struct rdma_conn_param param = {0};
	struct sockaddr_storage room;

	let_go(&cm.listener);
	cm.listener = new_id(cm.server_channel);
	OK(rdma_bind_addr(cm.listener, test_sockaddr(test_addr(), 0, &room)));
	resolve(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	make_qp(cm.client);
	OK(rdma_connect(cm.client, &param));
	assert_int_equal(next(cm.client_channel, RDMA_CM_EVENT_UNREACHABLE).status, NO_SUCH);
}

/* A listener for connections has nothing for datagrams, and the other way round. */
TEST(listener__of_the_other_kind_is_none, setup_ids, teardown_ids)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_conn_param param = {0};
	struct rdma_cm_id *tcp = NULL;
	struct sockaddr_storage room;

	assert_non_null(channel);
	OK(rdma_create_id(channel, &tcp, NULL, RDMA_PS_TCP));
	OK(rdma_bind_addr(tcp, test_sockaddr(test_addr(), 0, &room)));
	OK(rdma_listen(tcp, 4));
	resolve(cm.client, ntohs(rdma_get_src_port(tcp)));
	make_qp(cm.client);
	OK(rdma_connect(cm.client, &param));
	assert_int_equal(next(cm.client_channel, RDMA_CM_EVENT_UNREACHABLE).status, NO_SUCH);
	OK(rdma_destroy_id(tcp));
	rdma_destroy_event_channel(channel);
}

TEST(client__that_left_is_answered_to_nobody, setup_ids, teardown_ids)
{
	struct rdma_conn_param param = {0};

	ask("hello", 5);
	take_request();
	let_go(&cm.client);
	make_qp(cm.server);
	param.qp_num = cm.server->qp->qp_num;
	OK(rdma_accept(cm.server, &param));
}

static struct sockaddr_in group_address(unsigned char last)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};

	addr.sin_addr.s_addr = htonl(0xef010200u | last); /* 239.1.2.x */
	return addr;
}

/* cma_iboe_set_mgid() and cma_iboe_join_multicast() in drivers/infiniband/core/cma.c */
TEST(join__tells_where_to_send, setup_ids, teardown_ids)
{
	const unsigned char expected[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3};
	struct sockaddr_in addr = group_address(3);
	struct told told;
	int context;

	resolve_address(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	make_qp(cm.client);
	OK(rdma_join_multicast(cm.client, (struct sockaddr *)&addr, &context));
	told = next(cm.client_channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	assert_int_equal(told.status, 0);
	assert_ptr_equal(told.ud.private_data, &context);
	EQUAL((told.ud.qp_num, 0xffffff), (told.ud.qkey, QKEY));
	assert_memory_equal(told.ud.ah_attr.grh.dgid.raw, expected, 16);
	OK(rdma_leave_multicast(cm.client, (struct sockaddr *)&addr));
}

/* rdma_join_multicast_ex(3): who only sends gets nothing, as the queue pair is not attached. */
TEST(join__to_send_only_attaches_nothing, setup_ids, teardown_ids)
{
	struct sockaddr_in addr = group_address(7);
	struct rdma_cm_join_mc_attr_ex attr = {.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS |
							    RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
					       .join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
					       .addr = (struct sockaddr *)&addr};
	struct told told;

	resolve_address(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	make_qp(cm.client);
	OK(rdma_join_multicast_ex(cm.client, &attr, NULL));
	told = next(cm.client_channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	FAILS(EINVAL, ibv_detach_mcast(cm.client->qp, &told.ud.ah_attr.grh.dgid, 0));
	OK(rdma_leave_multicast(cm.client, attr.addr));
	attr.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
	OK(rdma_join_multicast_ex(cm.client, &attr, NULL));
	told = next(cm.client_channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	OK(ibv_detach_mcast(cm.client->qp, &told.ud.ah_attr.grh.dgid, 0));
}

TEST(leaving__what_was_not_joined_fails, setup_ids, teardown_ids)
{
	struct sockaddr_in addr = group_address(4), other = group_address(5);

	resolve_address(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	make_qp(cm.client);
	OK(rdma_join_multicast(cm.client, (struct sockaddr *)&addr, NULL));
	next(cm.client_channel, RDMA_CM_EVENT_MULTICAST_JOIN);
	FAILS(EADDRNOTAVAIL, rdma_leave_multicast(cm.client, (struct sockaddr *)&other));
	OK(rdma_leave_multicast(cm.client, (struct sockaddr *)&addr));
	FAILS(EADDRNOTAVAIL, rdma_leave_multicast(cm.client, (struct sockaddr *)&addr));
}

/* rdma_join_multicast() in drivers/infiniband/core/cma.c */
TEST(joining__comes_before_the_route, setup_ids, teardown_ids)
{
	struct sockaddr_in addr = group_address(6);

	resolve(cm.client, ntohs(rdma_get_src_port(cm.listener)));
	FAILS(EINVAL, rdma_join_multicast(cm.client, (struct sockaddr *)&addr, NULL));
}
