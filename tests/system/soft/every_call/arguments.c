/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.c -- what each call of librpma makes of wrong arguments, and what its getters
 * say, with objects that are real: a connection of two ends in one process.
 *
 * The errors are those of the manual. With every_call.c, in which the calls beneath
 * fail, all of the library has run on the device.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "end.h"
#include "tests/lib/test.h"

#define ADDR		    "127.0.0.1"
#define NO_DEVICE	    "192.0.2.1" /* TEST-NET-1, RFC 5737: no device here has it */
#define TOO_LONG	    ((size_t)UINT32_MAX + 1)

#define expect(error, call) assert_int_equal(call, error)
#define invalid(call)	    expect(RPMA_E_INVAL, call)

static struct end client, server;
static struct ibv_context *device;

static void connect_ends(struct rpma_conn_cfg *cfg)
{
	char offer[56], hello[] = "hello";
	struct rpma_conn_private_data to_client = {offer, sizeof(offer)}, to_server = {hello, 6};
	struct rpma_conn_private_data got;
	struct sockaddr_storage from;
	enum rpma_conn_event event;
	char port[6], text[INET_ADDRSTRLEN];
	uint16_t number;

	expect(0, rpma_ep_get_port(server.ep, &number));
	snprintf(port, sizeof(port), "%u", number);
	expect(0, rpma_conn_req_new(client.peer, ADDR, port, cfg, &client.req));
	expect(0, rpma_conn_req_get_private_data(client.req, &got));
	assert_null(got.ptr);
	expect(0, rpma_conn_req_connect(&client.req, &to_server, &client.conn));
	expect(0, rpma_ep_next_conn_req(server.ep, NULL, &server.req));
	expect(0, rpma_conn_req_get_private_data(server.req, &got));
	assert_string_equal(got.ptr, hello);
	expect(0, rpma_conn_req_get_peer_addr(server.req, &from));
	assert_string_equal(
		inet_ntop(AF_INET, &((struct sockaddr_in *)&from)->sin_addr, text, sizeof(text)),
		ADDR);
	memset(offer, 0, sizeof(offer));
	expect(0, rpma_mr_get_descriptor(server.mr, offer));
	expect(0, rpma_conn_req_connect(&server.req, &to_client, &server.conn));
	expect(0, rpma_conn_next_event(client.conn, &event)); /* the server sees it */
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
	expect(0, rpma_conn_next_event(server.conn, &event));
	assert_int_equal(event, RPMA_CONN_ESTABLISHED);
	expect(0, rpma_conn_get_private_data(client.conn, &got));
	expect(0, rpma_mr_remote_from_descriptor(got.ptr, 22, &client.remote));
}

static int setup(void **state)
{
	client.addr = server.addr = ADDR;
	expect(0, rpma_utils_get_ibv_context(ADDR, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device));
	assert_true(end_open(&client, RPMA_UTIL_IBV_CONTEXT_REMOTE));
	assert_true(end_open(&server, RPMA_UTIL_IBV_CONTEXT_LOCAL));
	expect(0, rpma_ep_listen(server.peer, ADDR, "0", &server.ep));
	connect_ends(NULL);
	return 0;
}

static int teardown(void **state)
{
	end_close(&client);
	end_close(&server);
	return 0;
}

TEST(device_and_peer, setup, teardown)
{
	struct rpma_peer *peer = NULL;
	struct ibv_context *context;
	int odp;

	invalid(rpma_utils_get_ibv_context(NULL, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	invalid(rpma_utils_get_ibv_context(ADDR, RPMA_UTIL_IBV_CONTEXT_LOCAL, NULL));
	invalid(rpma_utils_get_ibv_context(ADDR, (enum rpma_util_ibv_context_type)7, &context));
	expect(RPMA_E_PROVIDER,
	       rpma_utils_get_ibv_context(NO_DEVICE, RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	expect(RPMA_E_PROVIDER, /* it belongs to all of them */
	       rpma_utils_get_ibv_context("0.0.0.0", RPMA_UTIL_IBV_CONTEXT_LOCAL, &context));
	invalid(rpma_utils_ibv_context_is_odp_capable(NULL, &odp));
	invalid(rpma_utils_ibv_context_is_odp_capable(device, NULL));
	invalid(rpma_peer_new(NULL, &peer));
	invalid(rpma_peer_new(device, NULL));
	assert_null(peer);
	expect(0, rpma_peer_delete(&peer));
	invalid(rpma_peer_delete(NULL));
}

TEST(peer_configuration, setup, teardown)
{
	struct rpma_peer_cfg *pcfg = NULL;
	unsigned char byte = 1;
	bool supported = true;
	size_t size;

	invalid(rpma_peer_cfg_new(NULL));
	invalid(rpma_peer_cfg_delete(NULL));
	expect(0, rpma_peer_cfg_new(&pcfg));
	expect(0, rpma_peer_cfg_get_direct_write_to_pmem(pcfg, &supported));
	assert_false(supported);
	invalid(rpma_peer_cfg_set_direct_write_to_pmem(NULL, true));
	invalid(rpma_peer_cfg_get_direct_write_to_pmem(NULL, &supported));
	invalid(rpma_peer_cfg_get_direct_write_to_pmem(pcfg, NULL));
	invalid(rpma_peer_cfg_get_descriptor(NULL, &byte));
	invalid(rpma_peer_cfg_get_descriptor(pcfg, NULL));
	invalid(rpma_peer_cfg_get_descriptor_size(NULL, &size));
	invalid(rpma_peer_cfg_get_descriptor_size(pcfg, NULL));
	expect(0, rpma_peer_cfg_delete(&pcfg));
	invalid(rpma_peer_cfg_from_descriptor(NULL, 1, &pcfg));
	invalid(rpma_peer_cfg_from_descriptor(&byte, 0, &pcfg));
	invalid(rpma_peer_cfg_from_descriptor(&byte, 1, NULL));
	invalid(rpma_conn_apply_remote_peer_cfg(NULL, client.pcfg));
	invalid(rpma_conn_apply_remote_peer_cfg(client.conn, NULL));
}

TEST(region, setup, teardown)
{
	struct rpma_mr_local *mr = NULL;
	char desc[22];
	size_t size;
	void *ptr;

	invalid(rpma_mr_reg(NULL, desc, 1, RPMA_MR_USAGE_SEND, &mr));
	invalid(rpma_mr_reg(client.peer, NULL, 1, RPMA_MR_USAGE_SEND, &mr));
	invalid(rpma_mr_reg(client.peer, desc, 0, RPMA_MR_USAGE_SEND, &mr));
	invalid(rpma_mr_reg(client.peer, desc, 1, 0, &mr));
	invalid(rpma_mr_reg(client.peer, desc, 1, 1 << 20, &mr));
	invalid(rpma_mr_reg(client.peer, desc, 1, RPMA_MR_USAGE_SEND, NULL));
	expect(RPMA_E_PROVIDER, /* nothing is mapped there */
	       rpma_mr_reg(client.peer, (void *)4096, 1, RPMA_MR_USAGE_SEND, &mr)); /* NOLINT */
	invalid(rpma_mr_dereg(NULL));
	invalid(rpma_mr_get_descriptor(NULL, desc));
	invalid(rpma_mr_get_descriptor(client.mr, NULL));
	invalid(rpma_mr_get_descriptor_size(NULL, &size));
	invalid(rpma_mr_get_descriptor_size(client.mr, NULL));
	invalid(rpma_mr_get_ptr(NULL, &ptr));
	invalid(rpma_mr_get_ptr(client.mr, NULL));
	expect(0, rpma_mr_get_ptr(client.mr, &ptr));
	assert_ptr_equal(ptr, client.memory);
	invalid(rpma_mr_get_size(NULL, &size));
	invalid(rpma_mr_get_size(client.mr, NULL));
	expect(0, rpma_mr_get_size(client.mr, &size));
	assert_int_equal(size, MEMORY_BYTES);
	invalid(rpma_mr_advise(NULL, 0, 1, 0, 0));
	invalid(rpma_mr_advise(client.mr, MEMORY_BYTES, 1, 0, 0));
	invalid(rpma_mr_advise(client.mr, 0, TOO_LONG, 0, 0));
}

TEST(remote_region, setup, teardown)
{
	struct rpma_mr_remote *mr = NULL;
	char desc[22], nothing[22] = {0};
	size_t size;
	int types;

	expect(0, rpma_mr_get_descriptor(server.mr, desc));
	invalid(rpma_mr_remote_from_descriptor(NULL, 22, &mr));
	invalid(rpma_mr_remote_from_descriptor(desc, 20, &mr));
	invalid(rpma_mr_remote_from_descriptor(desc, 22, NULL));
	expect(RPMA_E_NOSUPP, rpma_mr_remote_from_descriptor(nothing, 22, &mr));
	invalid(rpma_mr_remote_delete(NULL));
	invalid(rpma_mr_remote_get_size(NULL, &size));
	invalid(rpma_mr_remote_get_size(client.remote, NULL));
	expect(0, rpma_mr_remote_get_size(client.remote, &size));
	assert_int_equal(size, MEMORY_BYTES);
	invalid(rpma_mr_remote_get_flush_type(NULL, &types));
	invalid(rpma_mr_remote_get_flush_type(client.remote, NULL));
	expect(0, rpma_mr_remote_get_flush_type(client.remote, &types));
	assert_int_equal(types,
			 RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
}

typedef int set_size(struct rpma_conn_cfg *cfg, uint32_t size);
typedef int get_size(const struct rpma_conn_cfg *cfg, uint32_t *size);

static void size_of_queue(struct rpma_conn_cfg *cfg, set_size *set, get_size *get, uint32_t initial)
{
	uint32_t size;

	invalid(set(NULL, 1));
	invalid(get(NULL, &size));
	invalid(get(cfg, NULL));
	expect(0, get(cfg, &size));
	assert_int_equal(size, initial);
	expect(0, set(cfg, 77));
	expect(0, get(cfg, &size));
	assert_int_equal(size, 77);
}

TEST(connection_configuration, setup, teardown)
{
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_srq *srq;
	bool shared;
	int timeout_ms;

	invalid(rpma_conn_cfg_new(NULL));
	invalid(rpma_conn_cfg_delete(NULL));
	expect(0, rpma_conn_cfg_new(&cfg));
	size_of_queue(cfg, rpma_conn_cfg_set_cq_size, rpma_conn_cfg_get_cq_size, 10);
	size_of_queue(cfg, rpma_conn_cfg_set_rcq_size, rpma_conn_cfg_get_rcq_size, 0);
	size_of_queue(cfg, rpma_conn_cfg_set_sq_size, rpma_conn_cfg_get_sq_size, 10);
	size_of_queue(cfg, rpma_conn_cfg_set_rq_size, rpma_conn_cfg_get_rq_size, 10);
	invalid(rpma_conn_cfg_set_timeout(NULL, 1));
	invalid(rpma_conn_cfg_set_timeout(cfg, -1));
	expect(0, rpma_conn_cfg_set_timeout(cfg, 500));
	invalid(rpma_conn_cfg_get_timeout(NULL, &timeout_ms));
	invalid(rpma_conn_cfg_get_timeout(cfg, NULL));
	expect(0, rpma_conn_cfg_get_timeout(cfg, &timeout_ms));
	assert_int_equal(timeout_ms, 500);
	invalid(rpma_conn_cfg_set_compl_channel(NULL, true));
	invalid(rpma_conn_cfg_get_compl_channel(NULL, &shared));
	invalid(rpma_conn_cfg_get_compl_channel(cfg, NULL));
	invalid(rpma_conn_cfg_set_srq(NULL, (struct rpma_srq *)cfg));
	invalid(rpma_conn_cfg_set_srq(cfg, NULL));
	invalid(rpma_conn_cfg_get_srq(NULL, &srq));
	invalid(rpma_conn_cfg_get_srq(cfg, NULL));
	expect(0, rpma_conn_cfg_get_srq(cfg, &srq));
	assert_null(srq);
	expect(0, rpma_conn_cfg_delete(&cfg));
}

TEST(request, setup, teardown)
{
	struct rpma_conn_private_data nothing = {NULL, 0}, pdata;
	struct sockaddr_storage addr;
	struct rpma_conn *conn = NULL;
	struct rpma_conn_req *req = NULL;

	invalid(rpma_conn_req_new(NULL, ADDR, "1", NULL, &req));
	invalid(rpma_conn_req_new(client.peer, NULL, "1", NULL, &req));
	invalid(rpma_conn_req_new(client.peer, ADDR, NULL, NULL, &req));
	invalid(rpma_conn_req_new(client.peer, ADDR, "1", NULL, NULL));
	expect(RPMA_E_PROVIDER,
	       rpma_conn_req_new(client.peer, ADDR, "no-such-service", NULL, &req));
	invalid(rpma_conn_req_delete(NULL));
	expect(0, rpma_conn_req_delete(&req));
	invalid(rpma_conn_req_connect(NULL, NULL, &conn));
	invalid(rpma_conn_req_connect(&req, NULL, &conn));
	expect(0, rpma_conn_req_new(client.peer, ADDR, "1", NULL, &req));
	invalid(rpma_conn_req_get_private_data(NULL, &pdata));
	invalid(rpma_conn_req_get_private_data(req, NULL));
	invalid(rpma_conn_req_get_peer_addr(NULL, &addr));
	invalid(rpma_conn_req_get_peer_addr(req, NULL));
	invalid(rpma_conn_req_recv(NULL, client.mr, 0, 1, NULL));
	invalid(rpma_conn_req_recv(req, NULL, 0, 1, NULL));
	invalid(rpma_conn_req_recv(req, client.mr, 0, TOO_LONG, NULL));
	invalid(rpma_conn_req_connect(&req, &nothing, &conn)); /* and consumes it */
	assert_null(req);
	expect(0, rpma_conn_req_new(client.peer, ADDR, "1", NULL, &req));
	invalid(rpma_conn_req_connect(&req, NULL, NULL));
}

TEST(connection, setup, teardown)
{
	struct rpma_conn_private_data pdata;
	enum rpma_conn_event event;
	struct rpma_conn *conn = NULL;
	struct rpma_cq *cq;
	uint32_t number;
	int fd;

	invalid(rpma_conn_next_event(NULL, &event));
	invalid(rpma_conn_next_event(client.conn, NULL));
	invalid(rpma_conn_get_private_data(NULL, &pdata));
	invalid(rpma_conn_get_private_data(client.conn, NULL));
	invalid(rpma_conn_get_qp_num(NULL, &number));
	invalid(rpma_conn_get_qp_num(client.conn, NULL));
	expect(0, rpma_conn_get_qp_num(client.conn, &number));
	invalid(rpma_conn_get_event_fd(NULL, &fd));
	invalid(rpma_conn_get_event_fd(client.conn, NULL));
	expect(0, rpma_conn_get_event_fd(client.conn, &fd));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	expect(RPMA_E_NO_EVENT, rpma_conn_next_event(client.conn, &event));
	invalid(rpma_conn_get_cq(NULL, &cq));
	invalid(rpma_conn_get_cq(client.conn, NULL));
	invalid(rpma_conn_get_rcq(NULL, &cq));
	invalid(rpma_conn_get_rcq(client.conn, NULL));
	expect(0, rpma_conn_get_rcq(client.conn, &cq));
	assert_null(cq);
	invalid(rpma_conn_get_compl_fd(NULL, &fd));
	invalid(rpma_conn_get_compl_fd(client.conn, NULL));
	expect(RPMA_E_NOT_SHARED_CHNL, rpma_conn_get_compl_fd(client.conn, &fd));
	invalid(rpma_conn_wait(NULL, 0, &cq, NULL));
	invalid(rpma_conn_wait(client.conn, 0, NULL, NULL));
	expect(RPMA_E_NOT_SHARED_CHNL, rpma_conn_wait(client.conn, 0, &cq, NULL));
	invalid(rpma_conn_disconnect(NULL));
	invalid(rpma_conn_delete(NULL));
	expect(0, rpma_conn_delete(&conn));
}

TEST(endpoint, setup, teardown)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req = NULL;
	struct rpma_srq *srq;
	struct rpma_ep *ep = NULL;
	uint16_t port;
	int fd;

	invalid(rpma_ep_listen(NULL, ADDR, "0", &ep));
	invalid(rpma_ep_listen(server.peer, NULL, "0", &ep));
	invalid(rpma_ep_listen(server.peer, ADDR, NULL, &ep));
	invalid(rpma_ep_listen(server.peer, ADDR, "0", NULL));
	expect(RPMA_E_PROVIDER, rpma_ep_listen(server.peer, NO_DEVICE, "0", &ep));
	invalid(rpma_ep_get_fd(NULL, &fd));
	invalid(rpma_ep_get_fd(server.ep, NULL));
	invalid(rpma_ep_get_port(NULL, &port));
	invalid(rpma_ep_get_port(server.ep, NULL));
	invalid(rpma_ep_next_conn_req(NULL, NULL, &req));
	invalid(rpma_ep_next_conn_req(server.ep, NULL, NULL));
	expect(0, rpma_ep_get_fd(server.ep, &fd));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	expect(RPMA_E_NO_EVENT, rpma_ep_next_conn_req(server.ep, NULL, &req));
	invalid(rpma_ep_shutdown(NULL));
	expect(0, rpma_ep_shutdown(&ep));
	expect(0, rpma_srq_new(server.peer, NULL, &srq)); /* with a queue of its own */
	expect(0, rpma_conn_cfg_new(&cfg));
	expect(0, rpma_conn_cfg_set_srq(cfg, srq));
	expect(0, rpma_conn_cfg_set_compl_channel(cfg, true));
	invalid(rpma_conn_req_new(client.peer, ADDR, "1", cfg, &req));
	expect(0, rpma_conn_cfg_delete(&cfg));
	expect(0, rpma_srq_delete(&srq));
}

#define SILENT RPMA_F_COMPLETION_ON_ERROR

TEST(one_sided_operations, setup, teardown)
{
	struct rpma_conn *c = client.conn;
	struct rpma_mr_local *mr = client.mr;
	struct rpma_mr_remote *remote = client.remote;
	const enum rpma_flush_type visible = RPMA_FLUSH_TYPE_VISIBILITY;
	char word[8] = {0};

	invalid(rpma_read(NULL, mr, 0, remote, 0, 8, SILENT, NULL));
	invalid(rpma_read(c, mr, 0, remote, 0, 8, 0, NULL));
	invalid(rpma_read(c, mr, 0, NULL, 0, 8, SILENT, NULL));
	invalid(rpma_read(c, NULL, 0, NULL, 8, 0, SILENT, NULL));
	invalid(rpma_read(c, mr, 0, remote, 0, TOO_LONG, SILENT, NULL));
	invalid(rpma_write(NULL, remote, 0, mr, 0, 8, SILENT, NULL));
	invalid(rpma_write(c, remote, 0, mr, 0, 8, 0, NULL));
	invalid(rpma_write(c, remote, 0, NULL, 0, 8, SILENT, NULL));
	invalid(rpma_write_with_imm(NULL, remote, 0, mr, 0, 8, SILENT, 1, NULL));
	invalid(rpma_write_with_imm(c, remote, 0, NULL, 0, 8, SILENT, 1, NULL));
	invalid(rpma_atomic_write(NULL, remote, 0, word, SILENT, NULL));
	invalid(rpma_atomic_write(c, NULL, 0, word, SILENT, NULL));
	invalid(rpma_atomic_write(c, remote, 0, NULL, SILENT, NULL));
	invalid(rpma_atomic_write(c, remote, 0, word, 0, NULL));
	invalid(rpma_atomic_write(c, remote, 4, word, SILENT, NULL));
	invalid(rpma_flush(NULL, remote, 0, 8, visible, SILENT, NULL));
	invalid(rpma_flush(c, NULL, 0, 8, visible, SILENT, NULL));
	invalid(rpma_flush(c, remote, 0, 8, visible, 0, NULL));
	invalid(rpma_flush(c, remote, 0, 8, (enum rpma_flush_type)7, SILENT, NULL));
	invalid(rpma_flush(c, remote, 1, MEMORY_BYTES, visible, SILENT, NULL));
	expect(RPMA_E_NOSUPP,
	       rpma_flush(c, remote, 0, 8, RPMA_FLUSH_TYPE_PERSISTENT, SILENT, NULL));
}

/* A flush of a region that was registered for these uses; the peer declares durability. */
static void flush_of(int usage, enum rpma_flush_type type)
{
	struct rpma_mr_remote *remote;
	struct rpma_mr_local *mr;
	char desc[22];

	expect(0, rpma_mr_reg(server.peer, server.memory, 64, usage, &mr));
	expect(0, rpma_mr_get_descriptor(mr, desc));
	expect(0, rpma_mr_remote_from_descriptor(desc, 22, &remote));
	expect(RPMA_E_NOSUPP, rpma_flush(client.conn, remote, 0, 8, type, SILENT, NULL));
	expect(0, rpma_mr_remote_delete(&remote));
	expect(0, rpma_mr_dereg(&mr));
}

TEST(flush_that_the_region_is_not_for, setup, teardown)
{
	expect(0, rpma_conn_apply_remote_peer_cfg(client.conn, server.pcfg));
	flush_of(RPMA_MR_USAGE_WRITE_DST, RPMA_FLUSH_TYPE_VISIBILITY);
	flush_of(RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY, RPMA_FLUSH_TYPE_PERSISTENT);
}

TEST(messages, setup, teardown)
{
	struct rpma_conn *c = client.conn;
	struct rpma_mr_local *mr = client.mr;

	invalid(rpma_send(NULL, mr, 0, 8, SILENT, NULL));
	invalid(rpma_send(c, mr, 0, 8, 0, NULL));
	invalid(rpma_send(c, NULL, 0, 8, SILENT, NULL));
	invalid(rpma_send(c, mr, 0, TOO_LONG, SILENT, NULL));
	invalid(rpma_send_with_imm(NULL, mr, 0, 8, SILENT, 1, NULL));
	invalid(rpma_send_with_imm(c, NULL, 8, 0, SILENT, 1, NULL));
	invalid(rpma_recv(NULL, mr, 0, 8, NULL));
	invalid(rpma_recv(c, NULL, 0, 8, NULL));
	invalid(rpma_recv(c, mr, 0, TOO_LONG, NULL));
}

/* A message, a write and a read of nothing, and a write that only announces itself. */
TEST(empty_operations, setup, teardown)
{
	struct rpma_conn *c = client.conn;
	struct rpma_cq *cq;
	struct ibv_wc wc;

	expect(0, rpma_recv(server.conn, NULL, 0, 0, NULL));
	expect(0, rpma_recv(server.conn, NULL, 0, 0, NULL));
	expect(0, rpma_read(c, NULL, 0, NULL, 0, 0, SILENT, NULL));
	expect(0, rpma_write(c, NULL, 0, NULL, 0, 0, SILENT, NULL));
	expect(0, rpma_write_with_imm(c, NULL, 0, NULL, 0, 0, SILENT, 1, NULL));
	expect(0, rpma_send(c, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NULL));
	expect(0, rpma_conn_get_cq(c, &cq));
	while (rpma_cq_get_wc(cq, 1, &wc, NULL) == RPMA_E_NO_COMPLETION)
		expect(0, rpma_cq_wait(cq));
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_SEND);
}

TEST(completion_queue, setup, teardown)
{
	struct ibv_wc wc[2];
	struct rpma_cq *cq;
	int fd, got;

	expect(0, rpma_conn_get_cq(client.conn, &cq));
	invalid(rpma_cq_get_fd(NULL, &fd));
	invalid(rpma_cq_get_fd(cq, NULL));
	invalid(rpma_cq_wait(NULL));
	invalid(rpma_cq_get_wc(NULL, 1, wc, NULL));
	invalid(rpma_cq_get_wc(cq, 1, NULL, NULL));
	invalid(rpma_cq_get_wc(cq, 0, wc, NULL));
	invalid(rpma_cq_get_wc(cq, 2, wc, NULL));
	expect(RPMA_E_NO_COMPLETION, rpma_cq_get_wc(cq, 2, wc, &got));
	expect(0, rpma_cq_get_fd(cq, &fd));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	expect(RPMA_E_NO_COMPLETION, rpma_cq_wait(cq));
}

TEST(shared_channel, setup, teardown)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_cq *cq;
	int fd;

	end_close(&client);
	assert_true(end_open(&client, RPMA_UTIL_IBV_CONTEXT_REMOTE));
	expect(0, rpma_conn_delete(&server.conn));
	expect(0, rpma_conn_cfg_new(&cfg));
	expect(0, rpma_conn_cfg_set_compl_channel(cfg, true));
	connect_ends(cfg);
	expect(0, rpma_conn_cfg_delete(&cfg));
	expect(0, rpma_conn_get_cq(client.conn, &cq));
	expect(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(cq));
	expect(0, rpma_conn_get_compl_fd(client.conn, &fd));
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	expect(RPMA_E_NO_COMPLETION, rpma_conn_wait(client.conn, 0, &cq, NULL));
}

TEST(shared_receive_queue, setup, teardown)
{
	struct rpma_srq_cfg *cfg = NULL;
	struct rpma_srq *srq = NULL;
	struct rpma_cq *rcq;
	uint32_t size;

	invalid(rpma_srq_cfg_new(NULL));
	invalid(rpma_srq_cfg_delete(NULL));
	expect(0, rpma_srq_cfg_new(&cfg));
	invalid(rpma_srq_cfg_set_rq_size(NULL, 1));
	invalid(rpma_srq_cfg_get_rq_size(NULL, &size));
	invalid(rpma_srq_cfg_get_rq_size(cfg, NULL));
	expect(0, rpma_srq_cfg_get_rq_size(cfg, &size));
	assert_int_equal(size, 20);
	expect(0, rpma_srq_cfg_set_rq_size(cfg, 5));
	invalid(rpma_srq_cfg_set_rcq_size(NULL, 1));
	invalid(rpma_srq_cfg_get_rcq_size(NULL, &size));
	invalid(rpma_srq_cfg_get_rcq_size(cfg, NULL));
	expect(0, rpma_srq_cfg_get_rcq_size(cfg, &size));
	assert_int_equal(size, 20);
	expect(0, rpma_srq_cfg_set_rcq_size(cfg, 0));
	invalid(rpma_srq_new(NULL, cfg, &srq));
	invalid(rpma_srq_new(client.peer, cfg, NULL));
	expect(0, rpma_srq_new(client.peer, cfg, &srq));
	expect(0, rpma_srq_cfg_delete(&cfg));
	invalid(rpma_srq_recv(NULL, client.mr, 0, 8, NULL));
	invalid(rpma_srq_recv(srq, NULL, 0, 8, NULL));
	invalid(rpma_srq_recv(srq, client.mr, 0, TOO_LONG, NULL));
	expect(0, rpma_srq_recv(srq, NULL, 0, 0, NULL));
	invalid(rpma_srq_get_rcq(NULL, &rcq));
	invalid(rpma_srq_get_rcq(srq, NULL));
	expect(0, rpma_srq_get_rcq(srq, &rcq));
	assert_null(rcq);
	invalid(rpma_srq_delete(NULL));
	expect(0, rpma_srq_delete(&srq));
}

static void ignore(enum rpma_log_level level, const char *file, const int line,
		   const char *function, const char *format, ...)
{
}

TEST(texts_and_log)
{
	enum rpma_log_level level;

	for (int error = RPMA_E_UNKNOWN; error >= RPMA_E_NOT_SHARED_CHNL - 1; error--)
		assert_non_null(rpma_err_2str(error));
	assert_string_not_equal(rpma_err_2str(0), rpma_err_2str(RPMA_E_INVAL));
	for (int event = RPMA_CONN_UNDEFINED; event <= RPMA_CONN_UNREACHABLE + 1; event++)
		assert_non_null(rpma_utils_conn_event_2str((enum rpma_conn_event)event));
	invalid(rpma_log_set_threshold((enum rpma_log_threshold)7, RPMA_LOG_LEVEL_ERROR));
	invalid(rpma_log_set_threshold(RPMA_LOG_THRESHOLD, (enum rpma_log_level)77));
	invalid(rpma_log_get_threshold((enum rpma_log_threshold)7, &level));
	invalid(rpma_log_get_threshold(RPMA_LOG_THRESHOLD, NULL));
	expect(0, rpma_log_get_threshold(RPMA_LOG_THRESHOLD, &level));
	assert_int_equal(level, RPMA_LOG_LEVEL_WARNING);
	expect(0, rpma_log_set_function(ignore));
	invalid(rpma_peer_new(NULL, NULL));
	expect(0, rpma_log_set_function(RPMA_LOG_USE_DEFAULT_FUNCTION));
}
