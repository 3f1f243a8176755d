/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_queue.c -- one completion queue for several connections. */
#include "calls.h"

#define SQ_SIZE	    8
#define RQ_SIZE	    4
#define CONNECTIONS 2
#define RECORDS	    600
#define ON_ERROR    RPMA_F_COMPLETION_ON_ERROR
#define ALWAYS	    RPMA_F_COMPLETION_ALWAYS

struct shared {
	struct rpma_cq *cq;
	struct rpma_conn *conns[CONNECTIONS];
	struct rpma_mr_remote *dst[CONNECTIONS];
	uint64_t expected[CONNECTIONS]; /* wr_id of the next completion */
	uint64_t got;
};

static struct rpma_conn_cfg *shared_cfg(struct rpma_cq *cq)
{
	struct rpma_conn_cfg *cfg = NULL;

	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_cq(cfg, cq));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, SQ_SIZE));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_RQ_SIZE, RQ_SIZE));
	return cfg;
}

static void open_one(const struct calls *c, struct rpma_peer *peer, struct shared *shared, int i)
{
	struct rpma_conn_cfg *cfg = shared_cfg(shared->cq);
	struct rpma_conn_req *req = NULL;
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_cq *cq = NULL;

	MUST(rpma_conn_req_new(peer, c->addr, c->target[i].port, cfg, &req));
	MUST(rpma_conn_cfg_delete(&cfg));
	shared->conns[i] = session_connect(req, "queue");
	MUST(rpma_conn_get_cq(shared->conns[i], &cq));
	MUST_HOLD(cq == shared->cq);
	session_take_region(shared->conns[i], &shared->dst[i], &pcfg);
	MUST(rpma_peer_cfg_delete(&pcfg));
}

/* The queue has room for these connections, and not for a large one, whatever the device gave. */
static void expect_no_more(const struct calls *c, struct rpma_peer *peer, struct rpma_cq *cq)
{
	struct rpma_conn_cfg *cfg = shared_cfg(cq);
	struct rpma_conn_req *req = NULL;

	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, 1 << 20));
	MUST_GIVE(RPMA_E_INVAL, rpma_conn_req_new(peer, c->addr, c->target[0].port, cfg, &req));
	MUST_HOLD(strstr(rpma_err_text(), "entries left") != NULL);
	MUST(rpma_conn_cfg_delete(&cfg));
}

/* One completion, of the connection that its number tells; or room. */
static void take(struct shared *shared)
{
	struct rpma_conn *conn = NULL;
	struct ibv_wc wc;

	int ret = rpma_cq_await_wc(shared->cq, 1, &wc, NULL, 0, -1);
	if (ret == RPMA_E_AGAIN)
		return;
	session_must(ret, 0, "rpma_cq_await_wc()");
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
	MUST(rpma_cq_get_conn(shared->cq, wc.qp_num, &conn));
	const int i = conn == shared->conns[0] ? 0 : 1;
	MUST_HOLD(conn == shared->conns[i] && wc.wr_id == shared->expected[i]);
	shared->expected[i] += 3;
	shared->got++;
}

static void write_to_both(struct shared *shared, const struct rpma_mr_local *src)
{
	for (uint64_t record = 0; record < RECORDS; record++) {
		for (int i = 0; i < CONNECTIONS; i++) {
			const int flags = record % 3 == 0 ? ALWAYS : ON_ERROR;
			int ret;

			while ((ret = rpma_write(shared->conns[i], shared->dst[i], record * 8, src,
						 record * 8, 8, flags, (void *)record)) ==
			       RPMA_E_AGAIN)
				take(shared);
			session_must(ret, 0, "rpma_write()");
		}
	}
	while (shared->got < (uint64_t)CONNECTIONS * RECORDS / 3)
		take(shared);
}

int connections_share_a_queue(struct calls *c)
{
	struct rpma_peer *peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	unsigned char *memory = session_memory("dram", MEMORY_BYTES);
	struct rpma_mr_local *src = NULL;
	struct shared shared = {0};
	struct rpma_conn_cfg *cfg = NULL;
	struct rpma_conn *none = NULL;
	struct ibv_wc wc;

	MUST(rpma_mr_reg(peer, memory, MEMORY_BYTES, RPMA_MR_USAGE_WRITE_SRC, &src));
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CQ_SIZE,
				      CONNECTIONS * (SQ_SIZE + RQ_SIZE)));
	MUST(rpma_cq_new(peer, cfg, &shared.cq));
	MUST(rpma_conn_cfg_delete(&cfg));
	for (int i = 0; i < CONNECTIONS; i++)
		open_one(c, peer, &shared, i);
	expect_no_more(c, peer, shared.cq);
	for (uint64_t record = 0; record < RECORDS; record++)
		memcpy(memory + record * 8, &record, 8);
	write_to_both(&shared, src);
	MUST_GIVE(RPMA_E_INVAL, rpma_cq_await_wc(shared.cq, 1, &wc, NULL, 0, -1));
	MUST_GIVE(RPMA_E_INVAL, rpma_cq_delete(&shared.cq));
	for (int i = 0; i < CONNECTIONS; i++) {
		session_delete(shared.conns[i]);
		MUST(rpma_mr_remote_delete(&shared.dst[i]));
		if (i == 0) /* there is room for another one now */
			open_one(c, peer, &shared, 0);
		else
			session_delete(shared.conns[0]);
	}
	MUST(rpma_mr_remote_delete(&shared.dst[0]));
	MUST_GIVE(RPMA_E_INVAL, rpma_cq_get_conn(shared.cq, 1, &none));
	MUST(rpma_cq_delete(&shared.cq));
	MUST(rpma_mr_dereg(&src));
	MUST(rpma_peer_delete(&peer));
	return 0;
}
