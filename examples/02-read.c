/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 02-read.c -- the client reads the memory of the server.
 *
 * The server registers its memory, sends the descriptor of the region with its
 * answer, and does nothing more: it learns of the read only by the end of the
 * connection.
 */
#include "example.h"

static const char text[] = "The server's memory, read without the server's help.";

static void server(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char memory[1024];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mr;
	struct rpma_peer_cfg *pcfg;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	(void)unused;
	memcpy(memory, text, sizeof(text));
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_READ_SRC, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	close_after_peer(&conn);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char memory[1024];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_mr_remote *src;
	struct rpma_mr_local *dst;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	size_t size;

	(void)unused;
	CHECK(rpma_mr_reg(peer, memory, sizeof(memory), RPMA_MR_USAGE_READ_DST, &dst));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	conn = establish(req, NULL);
	src = take_region(conn);
	CHECK(rpma_mr_remote_get_size(src, &size));
	if (size > sizeof(memory))
		size = sizeof(memory);

	CHECK(rpma_conn_get_cq(conn, &cq));
	CHECK(rpma_read(conn, dst, 0, src, 0, size, RPMA_F_COMPLETION_ALWAYS, NULL));
	struct ibv_wc wc = next_completion(cq);
	if (wc.opcode != IBV_WC_RDMA_READ)
		fail("opcode %d, expected IBV_WC_RDMA_READ", wc.opcode);
	if (memcmp(memory, text, sizeof(text)) != 0)
		fail("read \"%.100s\", expected \"%s\"", memory, text);
	printf("read \"%s\"\n", memory);

	close_first(&conn);
	CHECK(rpma_mr_remote_delete(&src));
	CHECK(rpma_mr_dereg(&dst));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
