/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 11-append-log.c -- a log in persistent memory of the server, to which the client appends: record
 * by record, with many appends under way, and several records an append. Whenever the power fails,
 * the end of the log names records that are there.
 *
 * The server takes the path of persistent memory as a last argument, as that of 03-write-flush
 * does; by giving it the user states that Direct Write to PMem holds on this platform. Without a
 * path the log is in ordinary memory, which the server offers as if it were persistent: to try the
 * program, not to keep anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "example.h"

enum {
	SIZE_BYTES = 2 << 20, /* device DAX is mapped in pages of 2 MiB */
	RECORD_BYTES = 64,
	NUM_RECORDS = 512,
	BATCH = 16,	/* records */
	IN_FLIGHT = 32, /* appends */
	SLOTS = 4,	/* an append takes these in the send queue */
	QUEUE = IN_FLIGHT * SLOTS,
};

struct log {
	uint64_t used_bytes; /* in records */
	char unused[RECORD_BYTES - sizeof(uint64_t)];
	char records[][RECORD_BYTES];
};

static void make_record(char *record, int number)
{
	memset(record, 0, RECORD_BYTES);
	snprintf(record, RECORD_BYTES, "record %d", number);
}

static struct log *map_log(const char *path)
{
	int flags = path == NULL ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED_VALIDATE | MAP_SYNC;
	int fd = -1;

	if (path != NULL) {
		struct stat status;

		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0 || fstat(fd, &status) != 0)
			fail("%s: %s", path, strerror(errno));
		if (S_ISREG(status.st_mode) && ftruncate(fd, SIZE_BYTES) != 0)
			fail("%s: %s", path, strerror(errno));
	}
	void *memory = mmap(NULL, SIZE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED)
		fail("%s: not mapped as persistent memory: %s", path ? path : "mmap",
		     strerror(errno));
	if (fd >= 0)
		close(fd);
	return memory;
}

/* Reads the log like a program that opens it after a crash. */
static void check_log(const struct log *log)
{
	char expected[RECORD_BYTES];

	if (log->used_bytes != (uint64_t)NUM_RECORDS * RECORD_BYTES)
		fail("%lu bytes in use, expected %d", (unsigned long)log->used_bytes,
		     NUM_RECORDS * RECORD_BYTES);
	for (int i = 0; i < NUM_RECORDS; i++) {
		make_record(expected, i);
		if (memcmp(log->records[i], expected, RECORD_BYTES) != 0)
			fail("record %d is \"%.63s\"", i, log->records[i]);
	}
	printf("the log has %d records\n", NUM_RECORDS);
}

static void server(const char *addr, const char *port, const char *pmem_path)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct log *log = map_log(pmem_path);
	struct rpma_peer_cfg *pcfg;
	struct rpma_mr_local *mr;
	struct rpma_conn_req *req;
	struct rpma_conn *conn;

	log->used_bytes = 0;
	CHECK(rpma_mr_reg(peer, log, SIZE_BYTES, usage, &mr));
	CHECK(rpma_peer_cfg_new(&pcfg));
	CHECK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	struct exported_region region = export_region(mr, pcfg);
	struct rpma_conn_private_data pdata = {&region, sizeof(region)};

	struct rpma_ep *ep = listen_at(peer, addr, port);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	conn = establish(req, &pdata);
	close_after_peer(&conn);
	check_log(log);

	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_peer_cfg_delete(&pcfg));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_peer_delete(&peer));
	munmap(log, SIZE_BYTES);
}

struct client {
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_remote *log;
	struct rpma_mr_local *mr;
	char records[NUM_RECORDS][RECORD_BYTES];
};

/* Records from the first one on, in one append: all of them are in the log, or none. */
static void append(struct client *c, size_t first, size_t count)
{
	const size_t from = first * RECORD_BYTES;
	const uint64_t new_end = (first + count) * RECORD_BYTES;
	const struct rpma_record record = {
		.dst = c->log,
		.dst_offset = offsetof(struct log, records) + from,
		.src = c->mr,
		.src_offset = from,
		.len = count * RECORD_BYTES,
		.end_offset = offsetof(struct log, used_bytes),
		.end = &new_end,
	};

	CHECK(rpma_append(c->conn, &record, RPMA_F_COMPLETION_ALWAYS, (void *)(first + count)));
}

/* How many records are durable now, and named by the end of the log. */
static size_t wait_for_append(struct client *c)
{
	struct ibv_wc wc;

	/* polls for 20 us, then sleeps; a server that is silent for 10 s is given up */
	CHECK(rpma_cq_await_wc(c->cq, 1, &wc, NULL, 20, 10000));
	check_status(&wc);
	return (size_t)wc.wr_id;
}

/* The whole log, with N appends under way, each of the same number of records. */
static double append_all(struct client *c, size_t in_flight, size_t count)
{
	struct timespec begin, end;
	size_t durable = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t i = 0; i < NUM_RECORDS; i += count) {
		if (i >= durable + in_flight * count)
			durable = wait_for_append(c);
		append(c, i, count);
	}
	while (durable < NUM_RECORDS)
		durable = wait_for_append(c);
	clock_gettime(CLOCK_MONOTONIC, &end);
	double us = (double)(end.tv_sec - begin.tv_sec) * 1e6 +
		    (double)(end.tv_nsec - begin.tv_nsec) / 1e3;
	printf("%2zu under way, %2zu records an append: %.2f us a record\n", in_flight, count,
	       us / NUM_RECORDS);
	return us;
}

static void client(const char *addr, const char *port, const char *unused)
{
	static _Alignas(64) struct client c;
	struct rpma_peer *peer = open_peer(addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct rpma_conn_req *req;
	struct rpma_conn_cfg *cfg;

	(void)unused;
	CHECK(rpma_mr_reg(peer, c.records, sizeof(c.records), RPMA_MR_USAGE_WRITE_SRC, &c.mr));
	CHECK(rpma_conn_cfg_new(&cfg));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_SQ_SIZE, QUEUE));
	CHECK(rpma_conn_cfg_set_option(cfg, RPMA_CONN_OPT_CQ_SIZE, QUEUE));
	CHECK(rpma_conn_req_new(peer, addr, port, cfg, &req));
	CHECK(rpma_conn_cfg_delete(&cfg));
	c.conn = establish(req, NULL);
	CHECK(rpma_conn_get_cq(c.conn, &c.cq));
	c.log = take_region(c.conn);

	for (int i = 0; i < NUM_RECORDS; i++)
		make_record(c.records[i], i);
	/* the same log three times: a record is written over by its equal */
	double alone_us = append_all(&c, 1, 1);
	double pipelined_us = append_all(&c, IN_FLIGHT, 1);
	double batched_us = append_all(&c, IN_FLIGHT, BATCH);
	printf("%.1f and %.1f times as fast as one by one\n", alone_us / pipelined_us,
	       alone_us / batched_us);

	close_first(&c.conn);
	CHECK(rpma_mr_remote_delete(&c.log));
	CHECK(rpma_mr_dereg(&c.mr));
	CHECK(rpma_peer_delete(&peer));
}

int main(int argc, char **argv)
{
	return run_role(argc, argv, server, client);
}
