/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * every_call.c -- scenarios over all of librpma that talks to a device, to be run with
 * each call beneath failing in turn.
 *
 *	every_call server|client SCENARIO ADDR [PORT]
 *
 * An end goes through its scenario until a call fails or the peer has left, takes down
 * what it has, and exits with 0; "done" on stdout means that it came through.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "end.h"

struct scenario {
	const char *name;
	bool (*prepare)(struct end *end); /* on both sides, once open; may be NULL */
	bool (*server)(struct end *end);
	bool (*client)(struct end *end);
};

/* A plain connection: the server waits for it to end, the client ends it. */

static bool accept_one(struct end *end, bool post)
{
	return end_listen(end) && end_request(end) && end_connect_server(end, post);
}

static bool leave(struct end *end)
{
	return TRY(rpma_conn_disconnect(end->conn)) && end_expect(end, RPMA_CONN_CLOSED);
}

static bool is_left(struct end *end)
{
	return end_expect(end, RPMA_CONN_CLOSED) && TRY(rpma_conn_disconnect(end->conn));
}

static bool queues(struct end *end, struct rpma_cq **cq, struct rpma_cq **rcq)
{
	if (!TRY(rpma_conn_get_cq(end->conn, cq)) || !TRY(rpma_conn_get_rcq(end->conn, rcq)))
		return false;
	if (*rcq == NULL && end->srq != NULL && !TRY(rpma_srq_get_rcq(end->srq, rcq)))
		return false;
	if (*rcq == NULL)
		*rcq = *cq;
	return true;
}

/* messages: with a queue for receives, with a shared channel, with a shared receive queue */

static bool with_rcq(struct end *end)
{
	return TRY(rpma_conn_cfg_new(&end->cfg)) && TRY(rpma_conn_cfg_set_rcq_size(end->cfg, 10));
}

static bool with_shared_channel(struct end *end)
{
	return with_rcq(end) && TRY(rpma_conn_cfg_set_compl_channel(end->cfg, true));
}

static bool with_srq(struct end *end)
{
	return TRY(rpma_srq_new(end->peer, NULL, &end->srq)) &&
	       TRY(rpma_srq_recv(end->srq, end->mr, 0, 64, end)) &&
	       TRY(rpma_conn_cfg_new(&end->cfg)) && TRY(rpma_conn_cfg_set_srq(end->cfg, end->srq));
}

static bool message_server(struct end *end)
{
	struct rpma_cq *cq, *rcq;
	struct ibv_wc wc;

	return accept_one(end, end->srq == NULL) && queues(end, &cq, &rcq) &&
	       end_completion(end, rcq, &wc) &&
	       (end->srq != NULL || TRY(rpma_recv(end->conn, end->mr, 0, 64, end))) &&
	       /* the client may leave before its acknowledgement is here: not waited for */
	       TRY(rpma_send_with_imm(end->conn, end->mr, 64, 64, RPMA_F_COMPLETION_ON_ERROR, 7,
				      end)) &&
	       is_left(end);
}

static bool message_client(struct end *end)
{
	struct rpma_cq *cq, *rcq;
	struct ibv_wc wc;

	return end_connect_client(end, end->srq == NULL) && queues(end, &cq, &rcq) &&
	       TRY(rpma_send(end->conn, end->mr, 64, 64, RPMA_F_COMPLETION_ALWAYS, end)) &&
	       end_completion(end, cq, &wc) && end_completion(end, rcq, &wc) && leave(end);
}

/* data: every one-sided operation, and one that the server hears of */

static bool data_server(struct end *end)
{
	struct rpma_conn_private_data pdata;
	struct rpma_cq *cq, *rcq;
	struct ibv_wc wc;

	return end_listen(end) && end_request(end) &&
	       TRY(rpma_conn_req_get_private_data(end->req, &pdata)) &&
	       end_connect_server(end, true) && queues(end, &cq, &rcq) &&
	       end_completion(end, rcq, &wc) && is_left(end);
}

static bool one_sided(struct end *end, struct rpma_cq *cq)
{
	const int silent = RPMA_F_COMPLETION_ON_ERROR, always = RPMA_F_COMPLETION_ALWAYS;
	struct ibv_wc wc;
	char word[8] = "8 bytes";

	return TRY(rpma_write(end->conn, end->remote, 0, end->mr, 0, 128, silent, end)) &&
	       TRY(rpma_flush(end->conn, end->remote, 0, 128, RPMA_FLUSH_TYPE_VISIBILITY, silent,
			      end)) &&
	       TRY(rpma_atomic_write(end->conn, end->remote, 128, word, silent, end)) &&
	       TRY(rpma_flush(end->conn, end->remote, 0, 136, RPMA_FLUSH_TYPE_PERSISTENT, always,
			      end)) &&
	       end_completion(end, cq, &wc) &&
	       TRY(rpma_read(end->conn, end->mr, 256, end->remote, 0, 128, always, end)) &&
	       end_completion(end, cq, &wc);
}

static bool data_client(struct end *end)
{
	struct rpma_cq *cq, *rcq;
	struct ibv_wc wc;

	return end_connect_client(end, false) && queues(end, &cq, &rcq) && one_sided(end, cq) &&
	       TRY(rpma_write_with_imm(end->conn, end->remote, 0, end->mr, 0, 64,
				       RPMA_F_COMPLETION_ALWAYS, 7, end)) &&
	       end_completion(end, cq, &wc) && leave(end);
}

/* reject: the server does not want the client */

static bool reject_server(struct end *end)
{
	return end_listen(end) && end_request(end) && TRY(rpma_conn_req_delete(&end->req));
}

static bool rejected_client(struct end *end)
{
	return TRY(rpma_conn_req_new(end->peer, end->addr, end->port, NULL, &end->req)) &&
	       TRY(rpma_conn_req_connect(&end->req, NULL, &end->conn)) &&
	       end_expect(end, RPMA_CONN_REJECTED);
}

/* refuse: no server listens any more */

static bool refuse_server(struct end *end)
{
	return end_listen(end) && TRY(rpma_ep_shutdown(&end->ep));
}

/* alone: what one end does by itself */

static bool alone_server(struct end *end)
{
	return end_listen(end) && TRY(rpma_ep_shutdown(&end->ep));
}

/*
 * No device has to page on demand, nor to take advice, and one that does knows no region of the
 * others: ENOENT. What it returns must be documented.
 */
static bool advise(struct end *end)
{
	int ret = rpma_mr_advise(end->mr, 0, MEMORY_BYTES, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				 IBV_ADVISE_MR_FLAG_FLUSH);

	return told(ret, "rpma_mr_advise") || ret == RPMA_E_NOSUPP ||
	       (ret == RPMA_E_PROVIDER && rpma_err_errno() == ENOENT);
}

static bool alone_client(struct end *end)
{
	struct ibv_context *device;
	int odp;

	return TRY(rpma_utils_get_ibv_context(end->addr, RPMA_UTIL_IBV_CONTEXT_LOCAL, &device)) &&
	       TRY(rpma_utils_ibv_context_is_odp_capable(device, &odp)) && advise(end) &&
	       TRY(rpma_conn_req_new(end->peer, end->addr, end->port, end->cfg, &end->req)) &&
	       TRY(rpma_conn_req_delete(&end->req));
}

static const struct scenario scenarios[] = {
	{"messages", with_rcq, message_server, message_client},
	{"shared_channel", with_shared_channel, message_server, message_client},
	{"srq", with_srq, message_server, message_client},
	{"data", NULL, data_server, data_client},
	{"reject", NULL, reject_server, rejected_client},
	{"refuse", NULL, refuse_server, rejected_client},
	{"alone", with_shared_channel, alone_server, alone_client},
};

static bool run(const struct scenario *scenario, struct end *end, bool server)
{
	return end_open(end, server ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE) &&
	       (scenario->prepare == NULL || scenario->prepare(end)) &&
	       (server ? scenario->server : scenario->client)(end);
}

int main(int argc, char **argv)
{
	static struct end end;
	bool server = argc == 4 && strcmp(argv[1], "server") == 0, done;

	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if ((!server && argc != 5) || strcmp(argv[2], scenarios[i].name) != 0)
			continue;
		end.addr = argv[3];
		end.port = argv[4];
		done = run(&scenarios[i], &end, server);
		end_close(&end);
		printf("%s\n", done ? "done" : "given up");
		return 0;
	}
	fprintf(stderr, "usage: every_call server|client SCENARIO ADDR [PORT]\n");
	return 64;
}
