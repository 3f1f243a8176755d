/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 13-replicated-log -- a log with REPLICAS copies, whose writer has one completion queue for all.
 *
 * The server has the copies, a connection for each; on several hosts it would be a server each. The
 * client appends each record to all of them, and the record is safe when a majority of the copies
 * has it. It waits in one place: completions of all connections come to one queue, and
 * rpma_cq_get_conn() tells whose each is.
 */
#include "example.h"

#define REPLICAS     4
#define MAJORITY     (REPLICAS / 2 + 1)
#define RECORDS	     200
#define RECORD_BYTES 64
#define IN_FLIGHT    8		     /* records */
#define SQ_SIZE	     (4 * IN_FLIGHT) /* an append is four operations */

struct log {
	uint64_t used_bytes; /* the end of the log: only records before it count */
	char unused[56];     /* records have cache lines of their own */
	char records[RECORDS][RECORD_BYTES];
};

static void server(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) struct log logs[REPLICAS];
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_mr_local *mrs[REPLICAS];
	struct rpma_conn *conns[REPLICAS];
	struct rpma_conn_req *req;
	struct rpma_peer_cfg *pcfg;

	(void)unused;
	CHECK(rpma_peer_cfg_new(&pcfg));
	CHECK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	struct rpma_ep *ep = listen_at(peer, addr, port);
	for (int i = 0; i < REPLICAS; i++) {
		CHECK(rpma_mr_reg(peer, &logs[i], sizeof(logs[i]), usage, &mrs[i]));
		struct exported_region region = export_region(mrs[i], pcfg);
		struct rpma_conn_private_data pdata = {&region, sizeof(region)};

		CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
		conns[i] = establish(req, &pdata);
	}
	for (int i = 0; i < REPLICAS; i++) {
		close_after_peer(&conns[i]);
		if (logs[i].used_bytes != sizeof(logs[i].records) ||
		    memcmp(logs[i].records, logs[0].records, sizeof(logs[0].records)) != 0)
			fail("copy %d has %lu bytes", i, (unsigned long)logs[i].used_bytes);
		CHECK(rpma_mr_dereg(&mrs[i]));
	}
	printf("%d copies of %d records\n", REPLICAS, RECORDS);
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_delete(&peer));
}

struct replica {
	struct rpma_conn *conn;
	struct rpma_mr_remote *log;
	size_t durable; /* records */
};

struct client {
	struct rpma_cq *cq;
	struct rpma_mr_local *mr;
	struct replica replicas[REPLICAS];
	char records[RECORDS][RECORD_BYTES];
};

static void append(struct client *c, struct replica *r, size_t i)
{
	const uint64_t new_end = (i + 1) * RECORD_BYTES;
	const struct rpma_record record = {
		.dst = r->log,
		.dst_offset = offsetof(struct log, records) + i * RECORD_BYTES,
		.src = c->mr,
		.src_offset = i * RECORD_BYTES,
		.len = RECORD_BYTES,
		.end_offset = offsetof(struct log, used_bytes),
		.end = &new_end,
	};

	CHECK(rpma_append(r->conn, &record, RPMA_F_COMPLETION_ALWAYS, (void *)(i + 1)));
}

/* Records that so many of the copies have, as fetched so far. */
static size_t durable_in(const struct client *c, int copies)
{
	size_t least = 0;

	for (int i = 0; i < REPLICAS; i++) {
		int as_far = 0;

		for (int j = 0; j < REPLICAS; j++)
			as_far += c->replicas[j].durable >= c->replicas[i].durable;
		if (as_far >= copies && c->replicas[i].durable > least)
			least = c->replicas[i].durable;
	}
	return least;
}

static void take_completion(struct client *c)
{
	struct rpma_conn *conn;
	struct ibv_wc wc;
	void *replica;

	CHECK(rpma_cq_await_wc(c->cq, 1, &wc, NULL, 20, 10000));
	check_status(&wc); /* a program that goes on without this copy would drop its connection */
	CHECK(rpma_cq_get_conn(c->cq, wc.qp_num, &conn));
	CHECK(rpma_conn_get_context(conn, &replica));
	((struct replica *)replica)->durable = (size_t)wc.wr_id;
}

static void connect_all(struct client *c, struct rpma_peer *peer, const char *addr,
			const char *port)
{
	struct rpma_conn_cfg *cfg;
	struct rpma_conn_req *req;

	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CQ_SIZE, REPLICAS * SQ_SIZE));
	CHECK(rpma_cq_new(peer, cfg, &c->cq));
	CHECK(rpma_conn_cfg_set_cq(cfg, c->cq));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, SQ_SIZE));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_RQ_SIZE, 0)); /* no messages */
	for (int i = 0; i < REPLICAS; i++) {
		CHECK(rpma_conn_req_new(peer, addr, port, cfg, &req));
		c->replicas[i].conn = establish(req, NULL);
		c->replicas[i].log = take_region(c->replicas[i].conn);
		CHECK(rpma_conn_set_context(c->replicas[i].conn, &c->replicas[i]));
	}
	CHECK(rpma_conn_cfg_delete(&cfg));
}

static void client(const char *addr, const char *port, const char *unused)
{
	static struct client c;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);

	(void)unused;
	CHECK(rpma_mr_reg(peer, c.records, sizeof(c.records), RPMA_MR_USAGE_WRITE_SRC, &c.mr));
	connect_all(&c, peer, addr, port);
	for (size_t i = 0; i < RECORDS; i++) {
		snprintf(c.records[i], RECORD_BYTES, "record %zu", i);
		while (i >= durable_in(&c, REPLICAS) + IN_FLIGHT) /* the slowest sets the pace */
			take_completion(&c);
		for (int j = 0; j < REPLICAS; j++)
			append(&c, &c.replicas[j], i);
	}
	while (durable_in(&c, MAJORITY) < RECORDS)
		take_completion(&c);
	printf("%d of %d copies have all records\n", MAJORITY, REPLICAS);
	while (durable_in(&c, REPLICAS) < RECORDS)
		take_completion(&c);
	for (int i = 0; i < REPLICAS; i++) {
		close_first(&c.replicas[i].conn);
		CHECK(rpma_mr_remote_delete(&c.replicas[i].log));
	}
	CHECK(rpma_cq_delete(&c.cq));
	CHECK(rpma_mr_dereg(&c.mr));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
