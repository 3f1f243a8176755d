/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 08-shared-channel.c -- completions of sends and of receives in two queues,
 * and one wait for both.
 *
 * The client sends a stream of numbers and gets each one back. It keeps several
 * under way, so either queue may be the next to have something.
 */
#include "example.h"

enum { NUMBERS = 64, WINDOW = 4, BYTES = sizeof(uint64_t) };

struct side {
	struct rpma_conn *conn;
	struct rpma_mr_local *mr;
	unsigned sent, received;     /* completions */
	uint64_t memory[2 * WINDOW]; /* the first half goes, the second comes */
};

static struct rpma_conn_cfg *new_cfg(void)
{
	struct rpma_conn_cfg *cfg;

	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_rcq_size(cfg, WINDOW));
	/* receives may keep a side busy until all it sent is done: lose nothing */
	CHECK(rpma_conn_cfg_set_sq_size(cfg, NUMBERS));
	CHECK(rpma_conn_cfg_set_cq_size(cfg, NUMBERS));
	CHECK(rpma_conn_cfg_set_compl_channel(cfg, true));
	return cfg;
}

static size_t incoming(unsigned index)
{
	return WINDOW + index % WINDOW;
}

static void connect_side(struct side *s, struct rpma_peer *peer, struct rpma_conn_req *req)
{
	CHECK(rpma_mr_reg(peer, s->memory, sizeof(s->memory),
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &s->mr));
	for (unsigned i = 0; i < WINDOW; i++)
		CHECK(rpma_conn_req_recv(req, s->mr, incoming(i) * BYTES, BYTES, NULL));
	s->conn = establish(req, NULL);
}

static void send_number(struct side *s, uint64_t number)
{
	size_t index = number % WINDOW;

	s->memory[index] = number;
	CHECK(rpma_send(s->conn, s->mr, index * BYTES, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
}

/* The message has the number it must have; its buffer is posted again. */
static void take_number(struct side *s)
{
	size_t index = incoming(s->received);

	if (s->memory[index] != s->received)
		fail("received %lu, expected %u", (unsigned long)s->memory[index], s->received);
	s->received++;
	CHECK(rpma_recv(s->conn, s->mr, index * BYTES, BYTES, NULL));
}

/* Wait for either queue and empty the one that has something. */
static void make_progress(struct side *s, bool echo)
{
	struct rpma_cq *cq;
	struct ibv_wc wc;
	bool is_rcq;
	int ret;

	CHECK(rpma_conn_wait(s->conn, 0, &cq, &is_rcq));
	while ((ret = rpma_cq_get_wc(cq, 1, &wc, NULL)) == 0) {
		check_status(&wc);
		if (!is_rcq) {
			s->sent++;
			continue;
		}
		take_number(s);
		if (echo)
			send_number(s, s->received - 1);
	}
	if (ret != RPMA_E_NO_COMPLETION)
		CHECK(ret);
}

static void server(const char *addr, const char *port, const char *unused)
{
	static struct side s;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_cfg *cfg = new_cfg();
	struct rpma_conn_req *req;

	(void)unused;
	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, cfg, &req));
	connect_side(&s, peer, req);
	while (s.sent < NUMBERS)
		make_progress(&s, true);
	close_after_peer(&s.conn);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&peer));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static struct side s;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_cfg *cfg = new_cfg();
	struct rpma_conn_req *req;
	uint64_t next = 0;

	(void)unused;
	CHECK(rpma_conn_req_new(peer, addr, port, cfg, &req));
	connect_side(&s, peer, req);
	while (s.received < NUMBERS || s.sent < NUMBERS) {
		/* a number goes when the one WINDOW before it is back */
		for (; next < NUMBERS && next < s.received + WINDOW && next < s.sent + WINDOW;
		     next++)
			send_number(&s, next);
		make_progress(&s, false);
	}
	close_first(&s.conn);
	printf("%u numbers came back\n", s.received);

	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_mr_dereg(&s.mr));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
