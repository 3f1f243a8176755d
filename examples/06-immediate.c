/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 06-immediate.c -- a number beside a message, and a number behind a write.
 *
 * Both complete a receive of the server. With a write the bytes are in the
 * memory already, where the client put them; the number is their offset.
 */
#include <arpa/inet.h>

#include "example.h"

enum { MEMORY_BYTES = 4096, MESSAGE_BYTES = 64, WRITE_OFFSET = 1024, SEND_NUMBER = 42 };
enum { CLIENT_LIMIT_MS = 10000 };

static const char message[] = "a message";
static const char written[] = "written bytes";

static uint32_t number_of(const struct ibv_wc *wc, enum ibv_wc_opcode opcode)
{
	if (wc->opcode != opcode || !(wc->wc_flags & IBV_WC_WITH_IMM))
		fail("opcode %d, flags %u: expected opcode %d with immediate data", wc->opcode,
		     (unsigned)wc->wc_flags, opcode);
	return ntohl(wc->imm_data);
}

static void check_content(const char *memory, uint32_t number, uint32_t expected_number,
			  const char *expected)
{
	if (number != expected_number || strcmp(memory, expected) != 0)
		fail("received %u and \"%.60s\", expected %u and \"%s\"", number, memory,
		     expected_number, expected);
	printf("received %u and \"%s\"\n", number, memory);
}

/* A client that dies before it writes leaves this queue pair as it is, so only the time tells. */
static struct ibv_wc received(struct rpma_cq *cq)
{
	struct ibv_wc wc;

	CHECK(rpma_cq_await_wc(cq, 1, &wc, NULL, 0, CLIENT_LIMIT_MS));
	check_status(&wc);
	return wc;
}

static void server(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char memory[MEMORY_BYTES];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct ibv_wc wc;

	(void)unused;
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory),
			  RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_DST, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	CHECK(rpma_conn_req_recv(req, mr, 0, MESSAGE_BYTES, NULL)); /* for the message */
	CHECK(rpma_conn_req_recv(req, mr, 0, MESSAGE_BYTES, NULL)); /* nothing is stored in it */
	conn = establish(req, &pdata);
	CHECK(rpma_conn_get_cq(conn, &cq));

	wc = received(cq);
	check_content(memory, number_of(&wc, IBV_WC_RECV), SEND_NUMBER, message);
	wc = received(cq);
	uint32_t offset = number_of(&wc, IBV_WC_RECV_RDMA_WITH_IMM);
	if (offset >= MEMORY_BYTES || wc.byte_len != sizeof(written))
		fail("%u bytes written at %u, expected %zu", wc.byte_len, offset, sizeof(written));
	check_content(memory + offset, offset, WRITE_OFFSET, written);
	close_after_peer(&conn);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char memory[2 * MESSAGE_BYTES];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *src;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;

	(void)unused;
	memcpy(memory, message, sizeof(message));
	memcpy(memory + MESSAGE_BYTES, written, sizeof(written));
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory),
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_WRITE_SRC, &src));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(conn, &cq));
	dst = take_region(conn);

	CHECK(rpma_send_with_imm(conn, src, 0, sizeof(message), RPMA_F_COMPLETION_ALWAYS,
				 SEND_NUMBER, NULL));
	next_completion(cq);
	CHECK(rpma_write_with_imm(conn, dst, WRITE_OFFSET, src, MESSAGE_BYTES, sizeof(written),
				  RPMA_F_COMPLETION_ALWAYS, WRITE_OFFSET, NULL));
	next_completion(cq);
	close_first(&conn);

	CHECK(rpma_mr_remote_delete(&dst));
	CHECK(rpma_mr_dereg(&src));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
