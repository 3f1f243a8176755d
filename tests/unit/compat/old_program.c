/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * old_program.c -- what a program of 2020 and 2021 did, on a real device: the
 * client uses the names of manual 0.0, the server those of 0.10 and 0.11.
 *
 *	old_program ADDRESS
 *
 * Both roles are processes of one run. Exit status 0 if both saw what they had
 * to see.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <librpma_compat.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			exit(EXIT_FAILURE);                                                        \
		}                                                                                  \
	} while (0)

enum { MEMORY_BYTES = 4096, NUMBER = 4711, WAIT_MS = 100000 };

static const char written[] = "written by the client";
static const char swapped[8] = "8 bytes";

static struct rpma_peer *peer_at(const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device;
	struct rpma_peer *peer;

	CHECK(rpma_utils_get_ibv_context(addr, type, &device) == 0);
	CHECK(rpma_peer_new(device, &peer) == 0);
	return peer;
}

static void expect_event(struct rpma_conn *conn, enum rpma_conn_event expected)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	CHECK(rpma_conn_next_event(conn, &event) == 0 && event == expected);
}

static struct rpma_ep *listen_at(struct rpma_peer *peer, const char *addr, int port_fd)
{
	struct rpma_ep *ep;
	uint16_t port;

	CHECK(rpma_ep_listen(peer, addr, "0", &ep) == 0);
	CHECK(rpma_ep_get_port(ep, &port) == 0);
	CHECK(write(port_fd, &port, sizeof(port)) == sizeof(port));
	return ep;
}

/* Accepts with the region's descriptor as private data and one receive posted. */
static struct rpma_conn *accept_client(struct rpma_ep *ep, struct rpma_mr_local *mr,
				       const void *op_context)
{
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	size_t desc_size;
	char desc[32];

	CHECK(rpma_mr_get_descriptor_size(mr, &desc_size) == 0 && desc_size <= sizeof(desc));
	CHECK(rpma_mr_get_descriptor(mr, desc) == 0);
	struct rpma_conn_private_data pdata = {desc, (uint8_t)desc_size};
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req) == 0);
	CHECK(rpma_conn_req_recv(req, mr, 0, 8, op_context) == 0);
	CHECK(rpma_conn_req_connect(&req, &pdata, &conn) == 0);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	return conn;
}

/* Does as the examples of 0.11 did. */
static void expect_number(struct rpma_conn *conn, const void *op_context)
{
	struct rpma_completion cmpl = {0};
	struct rpma_cq *cq;

	CHECK(rpma_conn_get_cq(conn, &cq) == 0);
	CHECK(rpma_cq_wait(cq) == 0);
	CHECK(rpma_cq_get_completion(cq, &cmpl) == 0);
	CHECK(cmpl.op == RPMA_OP_RECV_RDMA_WITH_IMM && cmpl.op_status == IBV_WC_SUCCESS);
	CHECK(cmpl.op_context == op_context);
	CHECK((cmpl.flags & IBV_WC_WITH_IMM) != 0 && cmpl.imm == NUMBER);
	CHECK(rpma_cq_get_completion(cq, &cmpl) == RPMA_E_NO_COMPLETION);
}

static void server(const char *addr, int port_fd)
{
	static _Alignas(4096) char memory[MEMORY_BYTES];
	const int usage =
		RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr;

	CHECK(rpma_mr_reg(peer, memory, sizeof(memory), usage, &mr) == 0);
	struct rpma_ep *ep = listen_at(peer, addr, port_fd);
	struct rpma_conn *conn = accept_client(ep, mr, memory);

	expect_number(conn, memory);
	CHECK(memcmp(memory + 64, written, sizeof(written)) == 0);
	CHECK(memcmp(memory + 8, swapped, sizeof(swapped)) == 0);

	expect_event(conn, RPMA_CONN_CLOSED);
	CHECK(rpma_conn_disconnect(conn) == 0 && rpma_conn_delete(&conn) == 0);
	CHECK(rpma_ep_shutdown(&ep) == 0 && rpma_mr_dereg(&mr) == 0);
	CHECK(rpma_peer_delete(&peer) == 0);
}

/* Waits through the descriptor, as manual 0.0 has it for asynchronous programs. */
static void next_completion(struct rpma_conn *conn, enum rpma_op op, const void *op_context)
{
	struct pollfd pollfd = {.events = POLLIN};
	struct rpma_completion cmpl = {0};
	int ret;

	CHECK(rpma_conn_get_completion_fd(conn, &pollfd.fd) == 0);
	do {
		CHECK(poll(&pollfd, 1, WAIT_MS) == 1);
		CHECK(rpma_conn_prepare_completions(conn) == 0);
		ret = rpma_conn_next_completion(conn, &cmpl);
	} while (ret == RPMA_E_NO_COMPLETION);
	CHECK(ret == 0 && cmpl.op_status == IBV_WC_SUCCESS);
	CHECK(cmpl.op == op && cmpl.op_context == op_context);
}

static void client(const char *addr, const char *port)
{
	static _Alignas(4096) char memory[MEMORY_BYTES];
	struct rpma_peer *peer = peer_at(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_private_data pdata;
	struct rpma_mr_remote *dst;
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;

	memcpy(memory, written, sizeof(written));
	memcpy(memory + 512, swapped, sizeof(swapped));
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_WRITE_SRC, &mr) == 0);
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req) == 0);
	CHECK(rpma_conn_req_connect(&req, NULL, &conn) == 0);
	expect_event(conn, RPMA_CONN_ESTABLISHED);
	CHECK(rpma_conn_get_private_data(conn, &pdata) == 0);
	CHECK(rpma_mr_remote_from_descriptor(pdata.ptr, pdata.len, &dst) == 0);

	CHECK(rpma_write(conn, dst, 64, mr, 0, sizeof(written), RPMA_F_COMPLETION_ALWAYS, memory) ==
	      0);
	next_completion(conn, RPMA_OP_WRITE, memory);
	CHECK(rpma_flush(conn, dst, 64, sizeof(written), RPMA_FLUSH_TYPE_VISIBILITY,
			 RPMA_F_COMPLETION_ALWAYS, &dst) == 0);
	next_completion(conn, RPMA_OP_READ, &dst);
	CHECK(rpma_write_atomic(conn, dst, 8, mr, 512, RPMA_F_COMPLETION_ALWAYS, &mr) == 0);
	next_completion(conn, RPMA_OP_WRITE, &mr);
	CHECK(rpma_write_with_imm(conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS, NUMBER,
				  &conn) == 0);
	next_completion(conn, RPMA_OP_WRITE, &conn);

	CHECK(rpma_conn_disconnect(conn) == 0);
	expect_event(conn, RPMA_CONN_CLOSED);
	CHECK(rpma_conn_delete(&conn) == 0 && rpma_mr_remote_delete(&dst) == 0);
	CHECK(rpma_mr_dereg(&mr) == 0 && rpma_peer_delete(&peer) == 0);
}

int main(int argc, char **argv)
{
	char port_text[8];
	uint16_t port;
	int port_fds[2];
	int status;

	CHECK(argc == 2);
	CHECK(pipe(port_fds) == 0);
	pid_t child = fork(); /* before either process touches the device */
	CHECK(child >= 0);
	alarm(300); /* ends a process that waits for ever; the other loses its peer */
	if (child == 0) {
		server(argv[1], port_fds[1]);
		return EXIT_SUCCESS;
	}
	close(port_fds[1]);
	CHECK(read(port_fds[0], &port, sizeof(port)) == sizeof(port));
	snprintf(port_text, sizeof(port_text), "%u", port);
	client(argv[1], port_text);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	puts("the old names work");
	return EXIT_SUCCESS;
}
