/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 05-messages.c -- a counter goes back and forth in messages; each side has a
 * completion queue for receives alone.
 *
 * A receive must be waiting when a message comes, so each side posts its first
 * one before the connection stands and the next one before it answers.
 */
#include "example.h"

enum { ROUNDS = 100 };
enum { OUT, IN };
enum { BYTES = sizeof(uint64_t) };

struct side {
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	struct rpma_cq *cq, *rcq;
	uint64_t memory[2]; /* [OUT] goes, [IN] comes */
};

/* A configuration with a queue for the completions of receives. */
static struct rpma_conn_cfg *new_cfg(void)
{
	struct rpma_conn_cfg *cfg;

	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_rcq_size(cfg, 10));
	return cfg;
}

static void connect_side(struct side *s, struct rpma_conn_req *req)
{
	CHECK(rpma_mr_reg(s->peer, s->memory, sizeof(s->memory),
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &s->mr));
	CHECK(rpma_conn_req_recv(req, s->mr, IN * BYTES, BYTES, NULL));
	s->conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(s->conn, &s->cq));
	CHECK(rpma_conn_get_rcq(s->conn, &s->rcq));
}

static void send_counter(struct side *s, uint64_t counter)
{
	s->memory[OUT] = counter;
	CHECK(rpma_send(s->conn, s->mr, OUT * BYTES, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(s->cq); /* the memory may be used again */
}

/* Takes the message and posts the receive for the next one. */
static uint64_t receive_counter(struct side *s)
{
	struct ibv_wc wc = next_completion(s->rcq);
	uint64_t counter = s->memory[IN];

	if (wc.opcode != IBV_WC_RECV || wc.byte_len != BYTES)
		fail("opcode %d, %u bytes: expected IBV_WC_RECV and 8", wc.opcode, wc.byte_len);
	CHECK(rpma_recv(s->conn, s->mr, IN * BYTES, BYTES, NULL));
	return counter;
}

static void server(const char *addr, const char *port, const char *unused)
{
	static struct side s;
	struct rpma_conn_cfg *cfg = new_cfg();
	struct rpma_conn_req *req;

	(void)unused;
	s.peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_ep *ep = listen_at(s.peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, cfg, &req));
	connect_side(&s, req);

	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t counter = receive_counter(&s);

		if (counter != 2 * round)
			fail("received %lu, expected %lu", (unsigned long)counter,
			     (unsigned long)(2 * round));
		send_counter(&s, counter + 1);
	}
	close_after_peer(&s.conn);
	printf("answered %d messages\n", ROUNDS);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&s.peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static struct side s;
	struct rpma_conn_cfg *cfg = new_cfg();
	struct rpma_conn_req *req;
	uint64_t counter = 0;

	(void)unused;
	s.peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	CHECK(rpma_conn_req_new(s.peer, addr, port, cfg, &req));
	connect_side(&s, req);

	for (int round = 0; round < ROUNDS; round++) {
		send_counter(&s, counter);
		uint64_t answer = receive_counter(&s);

		if (answer != counter + 1)
			fail("received %lu, expected %lu", (unsigned long)answer,
			     (unsigned long)(counter + 1));
		counter = answer + 1;
	}
	close_first(&s.conn);
	printf("sent %d messages, the last answer was %lu\n", ROUNDS, (unsigned long)counter - 1);

	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&s.peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
