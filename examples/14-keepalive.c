/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 14-keepalive -- a wait for messages that ends when the peer has vanished without a word.
 *
 * A host that loses its power closes no connection, so a program that waits for its messages waits
 * for ever. The server here asks for a sign of life whenever nothing has come for PERIOD_MS: an
 * empty write, which the peer's device acknowledges without its program. It is bounded twice, by
 * the retries of its own device, and by PERIOD_MS again where the device takes longer.
 */
#include "example.h"

#include <unistd.h>

#define PERIOD_MS 500 /* some seconds in a real program */
#define MESSAGES  2

static const char alive; /* its address is the context of the empty writes */

/* Like rpma_cq_await_wc(): a completion, or RPMA_E_TIMEOUT if the peer gave no sign of life. */
static int await_peer(struct rpma_conn *conn, struct rpma_cq *cq, struct ibv_wc *wc)
{
	bool is_asked = false;
	int ret;

	for (;;) {
		ret = rpma_cq_await_wc(cq, 1, wc, NULL, 20, PERIOD_MS);
		if (ret == RPMA_E_TIMEOUT && !is_asked) {
			ret = rpma_write(conn, NULL, 0, NULL, 0, 0, RPMA_F_COMPLETION_ALWAYS,
					 &alive);
			is_asked = true;
		} else if (ret == 0 && wc->wr_id == (uintptr_t)&alive &&
			   wc->status == IBV_WC_SUCCESS) {
			is_asked = false;
		} else {
			return ret;
		}
		if (ret)
			return ret;
	}
}

static void server(const char *addr, const char *port, const char *unused)
{
	static uint64_t numbers[MESSAGES];
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct ibv_wc wc;
	int got = 0, ret;

	(void)unused;
	CHECK(rpma_mr_reg(peer, numbers, sizeof(numbers), RPMA_MR_USAGE_RECV, &mr));
	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	for (size_t i = 0; i < MESSAGES; i++)
		CHECK(rpma_conn_req_recv(req, mr, i * sizeof(*numbers), sizeof(*numbers), NULL));
	conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(conn, &cq));
	while ((ret = await_peer(conn, cq, &wc)) == 0 && wc.status == IBV_WC_SUCCESS &&
	       ++got < MESSAGES)
		;
	if (ret == 0 && wc.status == IBV_WC_SUCCESS) {
		printf("%d messages\n", got);
		close_after_peer(&conn);
	} else {
		printf("the client has vanished after %d messages: %s\n", got,
		       ret ? rpma_err_2str(ret) : ibv_wc_status_str(wc.status));
		CHECK(rpma_conn_delete(&conn));
	}
	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

/* Sends a message now and then, and is silent for several periods of the server. */
static void client(const char *addr, const char *port, const char *unused)
{
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	static uint64_t number;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;
	struct rpma_cq *cq;

	(void)unused;
	CHECK(rpma_mr_reg(peer, &number, sizeof(number), RPMA_MR_USAGE_SEND, &mr));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(conn, &cq));
	for (number = 0; number < MESSAGES; number++) {
		usleep(3 * PERIOD_MS * 1000);
		CHECK(rpma_send(conn, mr, 0, sizeof(number), RPMA_F_COMPLETION_ALWAYS, NULL));
		(void)next_completion(cq);
	}
	close_first(&conn);
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
