/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_of_1_x.c -- the work of examples 10 and 11 by the calls that every librpma has.
 *
 *	calls_of_1_x server ADDR            prints its port
 *	calls_of_1_x client ADDR PORT
 *
 * The client prints the microseconds that a record of 64 bytes takes: written and flushed one by
 * one; the same in batches of 16 with one completion each; and appended one by one.
 * LD_LIBRARY_PATH names the librpma.so.0; guide_table.py compares them.
 */
#include "tests/vm/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORD = 64, RECORDS = 1024, BATCH = 16, QUEUE = 128, END = 0, FIRST = 64 };
enum { BYTES = FIRST + RECORDS * RECORD };

struct client {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *dst;
	struct rpma_mr_local *src;
};

static int server(const char *addr)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_req *req = NULL;
	struct rpma_mr_local *mr = NULL;

	MUST(rpma_mr_reg(peer, session_memory("dram", BYTES), BYTES, usage, &mr));
	struct rpma_ep *ep = session_serve(peer, addr);
	MUST(rpma_ep_next_conn_req(ep, NULL, &req));
	struct rpma_conn *conn = session_accept(req, mr);
	session_expect_event(conn, RPMA_CONN_CLOSED);
	session_delete(conn);
	MUST(rpma_ep_shutdown(&ep));
	MUST(rpma_mr_dereg(&mr));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

static void wait_for_one(const struct client *c)
{
	struct ibv_wc wc;
	int ret;

	while ((ret = rpma_cq_get_wc(c->cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		;
	MUST(ret);
	MUST_HOLD(wc.status == IBV_WC_SUCCESS);
}

static void write_and_flush(const struct client *c, size_t at, int flags)
{
	MUST(rpma_write(c->conn, c->dst, at, c->src, at, RECORD, RPMA_F_COMPLETION_ON_ERROR, NULL));
	MUST(rpma_flush(c->conn, c->dst, at, RECORD, RPMA_FLUSH_TYPE_VISIBILITY, flags, NULL));
}

static void one_by_one(const struct client *c)
{
	for (size_t at = FIRST; at < BYTES; at += RECORD) {
		write_and_flush(c, at, RPMA_F_COMPLETION_ALWAYS);
		wait_for_one(c);
	}
}

static void in_batches(const struct client *c)
{
	const size_t most = QUEUE / 2 / BATCH - 1; /* a record takes two slots */
	size_t under_way = 0;

	for (size_t i = 0; i < RECORDS; i++) {
		const bool is_last = i % BATCH == BATCH - 1;

		write_and_flush(c, FIRST + i * RECORD,
				is_last ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR);
		under_way += is_last;
		if (is_last && under_way > most) {
			wait_for_one(c);
			under_way--;
		}
	}
	while (under_way-- > 0)
		wait_for_one(c);
}

static void append_one_by_one(const struct client *c)
{
	const enum rpma_flush_type type = RPMA_FLUSH_TYPE_PERSISTENT;

	for (uint64_t at = FIRST; at < BYTES; at += RECORD) {
		const uint64_t end = at + RECORD;
		char bytes[sizeof(end)];

		memcpy(bytes, &end, sizeof(end));
		MUST(rpma_write(c->conn, c->dst, at, c->src, at, RECORD, RPMA_F_COMPLETION_ON_ERROR,
				NULL));
		MUST(rpma_flush(c->conn, c->dst, at, RECORD, type, RPMA_F_COMPLETION_ON_ERROR,
				NULL));
		MUST(rpma_atomic_write(c->conn, c->dst, END, bytes, RPMA_F_COMPLETION_ON_ERROR,
				       NULL));
		MUST(rpma_flush(c->conn, c->dst, END, sizeof(end), type, RPMA_F_COMPLETION_ALWAYS,
				NULL));
		wait_for_one(c);
	}
}

static double us_a_record(void (*way)(const struct client *), const struct client *c)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	way(c);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return ((double)(to.tv_sec - from.tv_sec) * 1e6 +
		(double)(to.tv_nsec - from.tv_nsec) / 1e3) /
	       RECORDS;
}

static int client(const char *addr, const char *port)
{
	struct rpma_peer *peer = session_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_peer_cfg *pcfg = NULL;
	struct rpma_conn_req *req = NULL;
	struct rpma_conn_cfg *cfg = NULL;
	struct client c = {0};

	MUST(rpma_mr_reg(peer, session_memory("dram", BYTES), BYTES, RPMA_MR_USAGE_WRITE_SRC,
			 &c.src));
	MUST(rpma_conn_cfg_new(&cfg));
	MUST(rpma_conn_cfg_set_sq_size(cfg, QUEUE));
	MUST(rpma_conn_cfg_set_cq_size(cfg, QUEUE));
	MUST(rpma_conn_req_new(peer, addr, port, cfg, &req));
	c.conn = session_connect(req, "figures");
	session_take_region(c.conn, &c.dst, &pcfg);
	MUST(rpma_conn_apply_remote_peer_cfg(c.conn, pcfg));
	MUST(rpma_conn_get_cq(c.conn, &c.cq));
	printf("%.2f %.2f %.2f\n", us_a_record(one_by_one, &c), us_a_record(in_batches, &c),
	       us_a_record(append_one_by_one, &c));
	MUST(rpma_conn_disconnect(c.conn));
	session_delete(c.conn);
	MUST(rpma_conn_cfg_delete(&cfg));
	MUST(rpma_peer_cfg_delete(&pcfg));
	MUST(rpma_mr_remote_delete(&c.dst));
	MUST(rpma_mr_dereg(&c.src));
	MUST(rpma_peer_delete(&peer));
	return 0;
}

int main(int argc, char **argv)
{
	session_start("calls_of_1_x", 600);
	if (argc == 3 && strcmp(argv[1], "server") == 0)
		return server(argv[2]);
	if (argc == 4 && strcmp(argv[1], "client") == 0)
		return client(argv[2], argv[3]);
	fprintf(stderr, "calls_of_1_x: expected server ADDR, or client ADDR PORT\n");
	return 64;
}
