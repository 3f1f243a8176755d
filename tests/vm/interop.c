/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interop.c -- two librpma of any origin work with each other.
 *
 *	interop server ADDR dram|DEVICE
 *	interop client ADDR PORT
 *
 * Both go through the same table of cases, a connection each. The server
 * prints its port; the client prints a line for every case that passed.
 */
#include "interop.h"

static const int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | RPMA_MR_USAGE_WRITE_SRC |
			 RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY |
			 RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV;

char interop_pattern(size_t offset)
{
	return (char)(offset * 31 + offset / 256 + 1);
}

static void fill_region(struct interop_side *side)
{
	for (size_t i = 0; i < INTEROP_REGION_BYTES; i++)
		side->memory[i] = interop_pattern(i);
}

static struct rpma_conn_cfg *configuration(const struct interop_case *test,
					   struct interop_side *side)
{
	struct rpma_conn_cfg *cfg = NULL;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_timeout(cfg, 5000));
	side->shared_channel = test->receive == INTEROP_SHARED_CHANNEL;
	MUST(rpma_conn_cfg_set_compl_channel(cfg, side->shared_channel));
	if (test->receive == INTEROP_SRQ && side->srq != NULL)
		MUST(rpma_conn_cfg_set_srq(cfg, side->srq));
	else if (test->receive != INTEROP_MAIN_CQ)
		MUST(rpma_conn_cfg_set_rcq_size(cfg, 4));
	return cfg;
}

/* An event of a shared channel names the CQ that has something. */
static struct ibv_wc next_of_shared(struct interop_side *side, struct rpma_cq *wanted)
{
	struct ibv_wc wc;
	struct rpma_cq *cq = NULL, *rcq = NULL;
	bool is_rcq = false;
	int got = rpma_cq_get_wc(wanted, 1, &wc, NULL);

	MUST(rpma_conn_get_rcq(side->conn, &rcq));
	MUST_GIVE(RPMA_E_SHARED_CHANNEL, rpma_cq_wait(wanted));
	while (got == RPMA_E_NO_COMPLETION) {
		MUST(rpma_conn_wait(side->conn, 0, &cq, &is_rcq));
		MUST_HOLD(is_rcq == (cq == rcq));
		got = rpma_cq_get_wc(wanted, 1, &wc, NULL);
	}
	session_must(got, 0, "rpma_cq_get_wc()");
	return wc;
}

static struct ibv_wc next_of(struct interop_side *side, struct rpma_cq *cq)
{
	uint32_t qp_num = 0;
	struct ibv_wc wc = side->shared_channel ? next_of_shared(side, cq) : session_completion(cq);

	MUST(rpma_conn_get_qp_num(side->conn, &qp_num));
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
	MUST_HOLD(wc.qp_num == qp_num);
	return wc;
}

struct ibv_wc interop_sent(struct interop_side *side)
{
	struct rpma_cq *cq = NULL;

	MUST(rpma_conn_get_cq(side->conn, &cq));
	struct ibv_wc wc = next_of(side, cq);
	if (wc.opcode & IBV_WC_RECV) {
		MUST_HOLD(!side->has_early);
		side->early = wc;
		side->has_early = true;
		wc = next_of(side, cq);
	}
	return wc;
}

struct ibv_wc interop_received(struct interop_side *side)
{
	struct rpma_cq *cq = NULL;

	if (side->has_early) {
		side->has_early = false;
		return side->early;
	}
	if (side->srq != NULL)
		MUST(rpma_srq_get_rcq(side->srq, &cq));
	else
		MUST(rpma_conn_get_rcq(side->conn, &cq));
	if (cq == NULL)
		MUST(rpma_conn_get_cq(side->conn, &cq));
	return next_of(side, cq);
}

static void serve_case(const struct interop_case *test, struct rpma_ep *ep,
		       struct interop_side *side)
{
	struct rpma_conn_private_data name = {NULL, 0};
	struct rpma_conn_cfg *cfg = configuration(test, side);
	struct rpma_conn_req *req = NULL;

	session_at(test->name);
	fill_region(side);
	MUST(rpma_ep_next_conn_req(ep, cfg, &req));
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_conn_req_get_private_data(req, &name));
	MUST_HOLD(name.ptr != NULL && name.len > strlen(test->name));
	MUST_HOLD(strcmp(name.ptr, test->name) == 0);
	if (side->srq != NULL)
		MUST(rpma_srq_recv(side->srq, side->mr, INTEROP_INBOX, INTEROP_MESSAGE_BYTES,
				   test));
	else
		MUST(rpma_conn_req_recv(req, side->mr, INTEROP_INBOX, INTEROP_MESSAGE_BYTES, test));
	side->conn = session_accept(req, side->mr);

	struct ibv_wc wc = interop_received(side);
	MUST_HOLD(wc.wr_id == (uintptr_t)test);
	test->server(side, &wc);
	/* The client may disconnect before this is acknowledged: no end waits for it. */
	MUST(rpma_send_with_imm(side->conn, side->mr, INTEROP_READABLE, 16,
				RPMA_F_COMPLETION_ON_ERROR, ~INTEROP_IMM, NULL));
	session_expect_event(side->conn, RPMA_CONN_CLOSED);
	MUST(rpma_conn_disconnect(side->conn));
	session_delete(side->conn);
}

static void run_case(const struct interop_case *test, struct rpma_peer *peer, const char *addr,
		     const char *port, struct interop_side *side)
{
	struct rpma_conn_cfg *cfg = configuration(test, side);
	struct rpma_conn_req *req = NULL;

	session_at(test->name);
	MUST(rpma_conn_req_new(peer, addr, port, cfg, &req));
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_conn_req_recv(req, side->mr, INTEROP_INBOX, INTEROP_MESSAGE_BYTES, NULL));
	side->conn = session_connect(req, test->name);
	session_take_region(side->conn, &side->remote, &side->pcfg);
	test->client(side);

	/* the server answers when it has found everything right */
	struct ibv_wc wc = interop_received(side);
	MUST_HOLD(wc.opcode == IBV_WC_RECV && wc.byte_len == 16);
	MUST_HOLD((wc.wc_flags & IBV_WC_WITH_IMM) &&
		  wc.imm_data == ~__builtin_bswap32(INTEROP_IMM));
	MUST_HOLD(side->memory[INTEROP_INBOX] == interop_pattern(INTEROP_READABLE));
	MUST(rpma_conn_disconnect(side->conn));
	session_expect_event(side->conn, RPMA_CONN_CLOSED);
	session_delete(side->conn);
	MUST(rpma_peer_cfg_delete(&side->pcfg));
	MUST(rpma_mr_remote_delete(&side->remote));
	printf("ok %s\n", test->name);
}

static int server(const char *addr, const char *place)
{
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct interop_side side = {.memory = session_memory(place, (size_t)2 << 20)};
	struct rpma_srq *srq = NULL;

	MUST(rpma_mr_reg(peer, side.memory, INTEROP_REGION_BYTES,
			 usage | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT, &side.mr));
	MUST(rpma_srq_new(peer, NULL, &srq));
	struct rpma_ep *ep = session_serve(peer, addr);
	for (size_t i = 0; i < interop_case_count; i++) {
		side.srq = interop_cases[i].receive == INTEROP_SRQ ? srq : NULL;
		serve_case(&interop_cases[i], ep, &side);
	}
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_srq_delete(&srq));
	MUST(rpma_mr_dereg(&side.mr));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

static int client(const char *addr, const char *port)
{
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct interop_side side = {.memory = session_memory("dram", INTEROP_REGION_BYTES)};

	MUST(rpma_mr_reg(peer, side.memory, INTEROP_REGION_BYTES, usage, &side.mr));
	for (size_t i = 0; i < interop_case_count; i++) {
		fill_region(&side);
		run_case(&interop_cases[i], peer, addr, port, &side);
	}
	MUST(rpma_mr_dereg(&side.mr));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "interop: expected server ADDR PLACE or client ADDR PORT\n");
		return 64;
	}
	session_start(argv[1], 60);
	return strcmp(argv[1], "server") == 0 ? server(argv[2], argv[3]) : client(argv[2], argv[3]);
}
