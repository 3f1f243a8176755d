/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 04-log-append.c -- append records to a log in the memory of the server, so
 * that it is whole at any moment.
 *
 * The log starts with the number of bytes in use. A record is written behind
 * them and flushed; only then the number is replaced, in one atomic write, and
 * flushed. A reader of the log at the server finds all of a record or nothing.
 */
#include "example.h"

struct log {
	uint64_t used_bytes; /* in records */
	char records[4096 - sizeof(uint64_t)];
};

static const char *const records[] = {"first", "second", "the third and last"};
enum { NUM_RECORDS = sizeof(records) / sizeof(records[0]) };

static void check_log(const struct log *log)
{
	const char *record = log->records;

	for (int i = 0; i < NUM_RECORDS; i++) {
		if (strcmp(record, records[i]) != 0)
			fail("record %d is \"%.100s\", expected \"%s\"", i, record, records[i]);
		printf("record %d: %s\n", i, record);
		record += strlen(record) + 1;
	}
	if (log->used_bytes != (uint64_t)(record - log->records))
		fail("%lu bytes in use, expected %td", (unsigned long)log->used_bytes,
		     record - log->records);
}

static void server(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) struct log log;
	const int usage = RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_WRITE_DST |
			  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	(void)unused;
	CHECK(rpma_mr_reg(peer, &log, sizeof(log), usage, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	close_after_peer(&conn);
	check_log(&log);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
}

struct client {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *log;
	struct rpma_mr_local *buffer_mr;
	struct log buffer;
};

/* Four operations, one completion: they are done in order. */
static void append(struct client *c, const char *record)
{
	const size_t len = strlen(record) + 1;
	const uint64_t end = c->buffer.used_bytes + len;
	const size_t at = offsetof(struct log, records) + c->buffer.used_bytes;
	const size_t used_at = offsetof(struct log, used_bytes);
	char new_end[8];

	memcpy(c->buffer.records + c->buffer.used_bytes, record, len);
	memcpy(new_end, &end, sizeof(new_end));

	CHECK(rpma_write(c->conn, c->log, at, c->buffer_mr, at, len, RPMA_F_COMPLETION_ON_ERROR,
			 NULL));
	CHECK(rpma_flush(c->conn, c->log, at, len, RPMA_FLUSH_TYPE_VISIBILITY,
			 RPMA_F_COMPLETION_ON_ERROR, NULL));
	CHECK(rpma_atomic_write(c->conn, c->log, used_at, new_end, RPMA_F_COMPLETION_ON_ERROR,
				NULL));
	CHECK(rpma_flush(c->conn, c->log, used_at, sizeof(new_end), RPMA_FLUSH_TYPE_VISIBILITY,
			 RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(c->cq);
	c->buffer.used_bytes = end;
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) struct client c;
	const int usage = RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_READ_DST;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_req *req;

	(void)unused;
	CHECK(rpma_mr_reg(peer, &c.buffer, sizeof(c.buffer), usage, &c.buffer_mr));
	CHECK(rpma_conn_req_new(peer, addr, port, NULL, &req));
	c.conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(c.conn, &c.cq));
	c.log = take_region(c.conn);

	for (int i = 0; i < NUM_RECORDS; i++)
		append(&c, records[i]);

	/* what the server has now */
	CHECK(rpma_read(c.conn, c.buffer_mr, 0, c.log, 0, sizeof(c.buffer),
			RPMA_F_COMPLETION_ALWAYS, NULL));
	next_completion(c.cq);
	check_log(&c.buffer);

	close_first(&c.conn);
	CHECK(rpma_mr_remote_delete(&c.log));
	CHECK(rpma_mr_dereg(&c.buffer_mr));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
