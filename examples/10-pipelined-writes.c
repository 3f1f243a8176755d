/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 10-pipelined-writes.c -- many small writes, each of them flushed: one after the other, and then
 * with many under way.
 *
 * The first way waits for the network once a record. The second posts records in batches, with one
 * call of the device for each batch, and waits only when the send queue is full. It asks for a
 * completion of the last record of a batch: those before it have been done by then.
 */
#include <time.h>

#include "example.h"

enum {
	RECORD_BYTES = 64,
	NUM_RECORDS = 1024,
	BATCH = 16,
	QUEUE = 128, /* a record takes two slots, for the write and for the flush */
};

static void server(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) char records[NUM_RECORDS][RECORD_BYTES];
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	(void)unused;
	CHECK(rpma_mr_reg(peer, records, sizeof(records), usage, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	close_after_peer(&conn);
	for (int i = 0; i < NUM_RECORDS; i++) {
		char expected[RECORD_BYTES];

		snprintf(expected, sizeof(expected), "record %d, pipelined", i);
		if (strcmp(records[i], expected) != 0)
			fail("record %d is \"%.63s\", expected \"%s\"", i, records[i], expected);
	}
	printf("%d records arrived\n", NUM_RECORDS);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

struct client {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *src;
	char records[NUM_RECORDS][RECORD_BYTES];
	size_t done; /* so many records are written and flushed */
};

static void fill(struct client *c, const char *how)
{
	for (int i = 0; i < NUM_RECORDS; i++)
		snprintf(c->records[i], RECORD_BYTES, "record %d, %s", i, how);
}

/* Until a completion comes: its record and all before it are done. Or until there is room. */
static void wait_for_record(struct client *c)
{
	struct ibv_wc wc;

	/* polls for 20 us, then sleeps; a server that is silent for 10 s is given up */
	int ret = rpma_cq_await_wc(c->cq, 1, &wc, NULL, 20, 10000);
	if (ret == RPMA_E_AGAIN)
		return; /* no completion, but the queue has room again */
	CHECK(ret);
	check_status(&wc);
	c->done = (size_t)wc.wr_id;
}

static void write_one_by_one(struct client *c)
{
	for (size_t i = 0; i < NUM_RECORDS; i++) {
		const size_t at = i * RECORD_BYTES;

		CHECK(rpma_write(c->conn, c->dst, at, c->src, at, RECORD_BYTES,
				 RPMA_F_COMPLETION_ON_ERROR, NULL));
		CHECK(rpma_flush(c->conn, c->dst, at, RECORD_BYTES, RPMA_FLUSH_TYPE_VISIBILITY,
				 RPMA_F_COMPLETION_ALWAYS, NULL));
		wait_for_record(c);
	}
}

static void write_pipelined(struct client *c)
{
	c->done = 0;
	for (size_t i = 0; i < NUM_RECORDS; i++) {
		const size_t at = i * RECORD_BYTES;
		const bool is_last = i % BATCH == BATCH - 1;
		const int flags = is_last ? RPMA_F_COMPLETION_ALWAYS
					  : RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE;
		int ret;

		while ((ret = rpma_write_flush(c->conn, c->dst, at, c->src, at, RECORD_BYTES,
					       RPMA_FLUSH_TYPE_VISIBILITY, flags,
					       (void *)(i + 1))) == RPMA_E_AGAIN)
			wait_for_record(c); /* the queue is full */
		CHECK(ret);
	}
	while (c->done < NUM_RECORDS)
		wait_for_record(c);
}

static double run(struct client *c, void (*write_all)(struct client *c), const char *how)
{
	struct timespec begin, end;
	double us;

	fill(c, how);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	write_all(c);
	clock_gettime(CLOCK_MONOTONIC, &end);
	us = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
	     (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
	printf("%s: %.2f us a record\n", how, us / NUM_RECORDS);
	return us;
}

static struct rpma_conn_cfg *make_configuration(void)
{
	struct rpma_conn_cfg *cfg;

	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, QUEUE));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CQ_SIZE, QUEUE));
	/* a batch is posted by its last record */
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_BATCH_SIZE, QUEUE));
	/* the library counts the slots of the queue: a full one is RPMA_E_AGAIN */
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SIGNAL_EVERY, QUEUE / 2));
	return cfg;
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) struct client c;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_cfg *cfg = make_configuration();
	struct rpma_conn_req *req;

	(void)unused;
	CHECK(rpma_mr_reg(peer, c.records, sizeof(c.records), RPMA_MR_USAGE_WRITE_SRC, &c.src));
	CHECK(rpma_conn_req_new(peer, addr, port, cfg, &req));
	CHECK(rpma_conn_cfg_delete(&cfg));
	c.conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(c.conn, &c.cq));
	c.dst = take_region(c.conn);

	double one_by_one_us = run(&c, write_one_by_one, "one by one");
	double pipelined_us = run(&c, write_pipelined, "pipelined");
	printf("pipelined is %.1f times as fast\n", one_by_one_us / pipelined_us);

	close_first(&c.conn);
	CHECK(rpma_mr_remote_delete(&c.dst));
	CHECK(rpma_mr_dereg(&c.src));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
