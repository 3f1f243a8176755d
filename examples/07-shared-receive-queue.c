/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 07-shared-receive-queue.c -- a server with one stock of receives for all of
 * its clients.
 *
 * Each of three connections sends its number. All messages complete in the
 * queue of the shared receive queue; qp_num of the completion identifies the
 * connection, and the answer goes back on that connection.
 */
#include "example.h"

enum { CONNECTIONS = 3, BUFFERS = 2 * CONNECTIONS, BYTES = sizeof(uint64_t) };

static struct rpma_conn *conns[CONNECTIONS];

static int connection_of(const struct ibv_wc *wc)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		uint32_t qp_num;

		CHECK(rpma_conn_get_qp_num(conns[i], &qp_num));
		if (qp_num == wc->qp_num)
			return i;
	}
	fail("a message on queue pair %u, which no connection has", wc->qp_num);
}

/* wr_id of a receive is its buffer, so that a completion tells where the message is. */
static void answer_one(struct rpma_cq *rcq, struct rpma_mr_local *mr, uint64_t *buffers)
{
	struct ibv_wc wc = next_completion(rcq);
	uint64_t *buffer = buffers + wc.wr_id;
	struct rpma_cq *cq;
	int i = connection_of(&wc);

	printf("connection %d sent %lu\n", i, (unsigned long)*buffer);
	*buffer += 100;
	CHECK(rpma_send(conns[i], mr, wc.wr_id * BYTES, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
	CHECK(rpma_conn_get_cq(conns[i], &cq));
	next_completion(cq);
}

/* It has a completion queue of its own, and all of its buffers are posted. */
static struct rpma_srq *new_srq(struct rpma_peer *peer, struct rpma_mr_local *mr)
{
	struct rpma_srq_cfg *cfg;
	struct rpma_srq *srq;

	CHECK(rpma_srq_cfg_new(&cfg));
	CHECK(rpma_srq_cfg_set_rq_size(cfg, BUFFERS));
	CHECK(rpma_srq_cfg_set_rcq_size(cfg, BUFFERS));
	CHECK(rpma_srq_new(peer, cfg, &srq));
	CHECK(rpma_srq_cfg_delete(&cfg));
	for (uintptr_t i = 0; i < BUFFERS; i++)
		CHECK(rpma_srq_recv(srq, mr, i * BYTES, BYTES, (void *)i));
	return srq;
}

static void server(const char *addr, const char *port, const char *unused)
{
	static uint64_t buffers[BUFFERS];
	const int usage = RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_cfg *cfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_cq *rcq;

	(void)unused;
	CHECK(rpma_mr_reg(peer, buffers, sizeof(buffers), usage, &mr));
	struct rpma_srq *srq = new_srq(peer, mr);
	CHECK(rpma_srq_get_rcq(srq, &rcq));
	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_srq(cfg, srq));
	struct rpma_ep *ep = listen_at(peer, addr, port);
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK(rpma_ep_next_conn_req(ep, cfg, &req));
		conns[i] = establish(req, NULL);
	}
	for (int i = 0; i < CONNECTIONS; i++)
		answer_one(rcq, mr, buffers);
	for (int i = 0; i < CONNECTIONS; i++)
		close_after_peer(&conns[i]);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_conn_cfg_delete(&cfg));
	CHECK(rpma_srq_delete(&srq)); /* after the connections that use it */
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

static void ask(struct rpma_conn *conn, struct rpma_mr_local *mr, const uint64_t *number)
{
	struct rpma_cq *cq;

	uint64_t expected = *number + 100;
	CHECK(rpma_conn_get_cq(conn, &cq));
	CHECK(rpma_send(conn, mr, 0, BYTES, RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(cq); /* the send's or the receive's, whichever comes first */
	next_completion(cq);
	if (*number != expected)
		fail("the answer is %lu, expected %lu", (unsigned long)*number,
		     (unsigned long)expected);
}

static void client(const char *addr, const char *port, const char *unused)
{
	static uint64_t numbers[CONNECTIONS] = {1, 2, 3};
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_mr_local *mrs[CONNECTIONS];
	struct rpma_conn_req *req;

	(void)unused;
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK(rpma_mr_reg(peer, &numbers[i], BYTES, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
				  &mrs[i]));
		CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
		CHECK(rpma_conn_req_recv(req, mrs[i], 0, BYTES, NULL));
		conns[i] = establish(req, NULL);
	}
	for (int i = CONNECTIONS - 1; i >= 0; i--)
		ask(conns[i], mrs[i], &numbers[i]);
	for (int i = 0; i < CONNECTIONS; i++) {
		close_first(&conns[i]);
		CHECK(rpma_mr_dereg(&mrs[i]));
	}
	CHECK(rpma_peer_delete(&peer));
	printf("%d connections were answered\n", CONNECTIONS);
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
