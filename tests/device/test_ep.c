/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_ep.c -- the short way: rdma_getaddrinfo(), rdma_create_ep() and the
 * wrappers of rdma_verbs.h. The server end is a thread up to its acceptance.
 */
#include "device_test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>

#define SIZE 4096

static struct rdma_cm_id *listener, *server, *client;
static char service[8];
static unsigned char server_memory[SIZE], client_memory[SIZE];
static struct ibv_mr *server_mr, *client_mr;
static int server_result;

static struct ibv_qp_init_attr queues(void)
{
	return (struct ibv_qp_init_attr){.cap = {.max_send_wr = 4,
						 .max_recv_wr = 4,
						 .max_send_sge = 1,
						 .max_recv_sge = 1,
						 .max_inline_data = 16},
					 .sq_sig_all = 1,
					 .qp_type = IBV_QPT_RC};
}

static struct rdma_addrinfo *resolve(const char *at, int flags)
{
	struct rdma_addrinfo hints = {.ai_flags = flags, .ai_port_space = RDMA_PS_TCP},
			     *info = NULL;

	OK(rdma_getaddrinfo(test_addr(), at, &hints, &info));
	assert_non_null(info);
	return info;
}

/* Listen at a port that is free: rdma_getaddrinfo() has no name for "any". */
static void listen_somewhere(void)
{
	struct rdma_addrinfo *info = resolve("0", RAI_PASSIVE | RAI_NUMERICHOST);
	struct ibv_qp_init_attr attr = queues();

	OK(rdma_create_ep(&listener, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	OK(rdma_listen(listener, 2));
	snprintf(service, sizeof(service), "%u", ntohs(rdma_get_src_port(listener)));
}

static void *accept_one(void *unused)
{
	server_result = rdma_get_request(listener, &server) || rdma_accept(server, NULL);
	return NULL;
}

static void connect_client(void)
{
	struct rdma_addrinfo *info = resolve(service, 0);
	struct ibv_qp_init_attr attr = queues();

	OK(rdma_create_ep(&client, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	assert_non_null(client->qp);
	assert_true(attr.cap.max_send_wr >= 4);
	OK(rdma_connect(client, NULL));
}

static int setup_ep(void **unused)
{
	pthread_t thread;

	listen_somewhere();
	OK(pthread_create(&thread, NULL, accept_one, NULL));
	connect_client();
	OK(pthread_join(thread, NULL));
	assert_int_equal(server_result, 0);
	fill(server_memory, SIZE, 1);
	fill(client_memory, SIZE, 2);
	server_mr = client_mr = NULL;
	return 0;
}

static int teardown_ep(void **unused)
{
	if (server_mr != NULL)
		OK(rdma_dereg_mr(server_mr));
	if (client_mr != NULL)
		OK(rdma_dereg_mr(client_mr));
	rdma_destroy_ep(client);
	rdma_destroy_ep(server);
	rdma_destroy_ep(listener);
	return 0;
}

TEST(getaddrinfo__for_the_client_resolves)
{
	struct rdma_addrinfo *info = resolve("7471", 0);
	const struct sockaddr_in *dst = (const struct sockaddr_in *)info->ai_dst_addr;

	EQUAL((info->ai_family, AF_INET), (info->ai_port_space, RDMA_PS_TCP),
	      (info->ai_qp_type, IBV_QPT_RC), (info->ai_flags & RAI_PASSIVE, 0));
	assert_non_null(dst);
	assert_int_equal(ntohs(dst->sin_port), 7471);
	rdma_freeaddrinfo(info);
}

TEST(getaddrinfo__for_the_server_has_a_source)
{
	struct rdma_addrinfo *info = resolve("7471", RAI_PASSIVE);

	assert_int_equal(info->ai_flags & RAI_PASSIVE, RAI_PASSIVE);
	assert_non_null(info->ai_src_addr);
	EQUAL((info->ai_dst_addr, NULL), (info->ai_src_len, sizeof(struct sockaddr_in)));
	rdma_freeaddrinfo(info);
}

TEST(getaddrinfo__refuses_names_it_cannot_resolve)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_NUMERICHOST, .ai_port_space = RDMA_PS_TCP};
	struct rdma_addrinfo *info = NULL;

	assert_int_not_equal(rdma_getaddrinfo("no.such.host", "7471", &hints, &info), 0);
}

TEST(ep__makes_connected_ids, setup_ep, teardown_ep)
{
	assert_non_null(server->qp);
	EQUAL((client->qp->state, IBV_QPS_RTS), (server->qp->state, IBV_QPS_RTS));
	assert_non_null(client->send_cq);
	assert_non_null(client->recv_cq);
}

static void expect_send(struct rdma_cm_id *id, void *context)
{
	struct ibv_wc wc;

	EQUAL((rdma_get_send_comp(id, &wc), 1), (wc.status, IBV_WC_SUCCESS));
	assert_ptr_equal((void *)(uintptr_t)wc.wr_id, context);
}

static struct ibv_wc expect_recv(struct rdma_cm_id *id, void *context)
{
	struct ibv_wc wc;

	EQUAL((rdma_get_recv_comp(id, &wc), 1), (wc.status, IBV_WC_SUCCESS));
	assert_ptr_equal((void *)(uintptr_t)wc.wr_id, context);
	return wc;
}

static void register_messages(void)
{
	server_mr = rdma_reg_msgs(server, server_memory, SIZE);
	client_mr = rdma_reg_msgs(client, client_memory, SIZE);
	assert_non_null(server_mr);
	assert_non_null(client_mr);
}

TEST(message__arrives, setup_ep, teardown_ep)
{
	register_messages();
	OK(rdma_post_recv(server, &server, server_memory, 200, server_mr));
	OK(rdma_post_send(client, &client, client_memory, 100, client_mr, 0));
	expect_send(client, &client);
	assert_int_equal(expect_recv(server, &server).byte_len, 100);
	assert_memory_equal(server_memory, client_memory, 100);
}

TEST(message__inline_arrives, setup_ep, teardown_ep)
{
	unsigned char bytes[16];

	register_messages();
	fill(bytes, sizeof(bytes), 9);
	OK(rdma_post_recv(client, &client, client_memory, 200, client_mr));
	OK(rdma_post_send(server, NULL, bytes, sizeof(bytes), NULL, IBV_SEND_INLINE));
	expect_send(server, NULL);
	expect_recv(client, &client);
	assert_memory_equal(client_memory, bytes, sizeof(bytes));
}

TEST(write__arrives, setup_ep, teardown_ep)
{
	server_mr = rdma_reg_write(server, server_memory, SIZE);
	client_mr = rdma_reg_msgs(client, client_memory, SIZE);
	OK(rdma_post_write(client, &client, client_memory, 64, client_mr, 0,
			   (uintptr_t)server_memory + 8, server_mr->rkey));
	expect_send(client, &client);
	assert_memory_equal(server_memory + 8, client_memory, 64);
}

TEST(read__fetches, setup_ep, teardown_ep)
{
	server_mr = rdma_reg_read(server, server_memory, SIZE);
	client_mr = rdma_reg_msgs(client, client_memory, SIZE);
	OK(rdma_post_read(client, &client, client_memory, 64, client_mr, 0,
			  (uintptr_t)server_memory + 8, server_mr->rkey));
	expect_send(client, &client);
	assert_memory_equal(client_memory, server_memory + 8, 64);
}

TEST(create_ep__without_qp_attributes_makes_no_qp, setup_ep, teardown_ep)
{
	struct rdma_addrinfo *info = resolve(service, 0);
	struct rdma_cm_id *id = NULL;

	OK(rdma_create_ep(&id, info, NULL, NULL));
	assert_null(id->qp);
	assert_non_null(id->verbs);
	rdma_destroy_ep(id);
	rdma_freeaddrinfo(info);
}
