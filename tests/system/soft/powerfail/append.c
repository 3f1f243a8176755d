/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * append.c -- a log in a file of the target, appended to by a writer over librpma: what
 * the power failure takes it from.
 *
 *	append target FILE PERSIST	PERSIST: msync, fdatasync, pmem or nothing
 *	append writer ADDR PORT HOW	HOW: flush, none, before or message
 *
 * Record n is 128 bytes at 128 * n, each 8 of them the number n + 1. The writer calls a
 * record acknowledged when the way it was told promises that it is durable (or
 * does not: none, before), and prints at the end how many were, whatever ended it. With
 * `message` the target persists what a message names and answers.
 */
#include <fcntl.h>
#include <librpma.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef HAVE_LIBPMEM
#include <libpmem.h>
#endif

#define RECORD_BYTES 128u
#define RECORDS	     64u
#define LOG_BYTES    ((size_t)RECORD_BYTES * RECORDS)

static void check(int error, const char *what)
{
	if (error == 0)
		return;
	fprintf(stderr, "append: %s: %s\n", what, rpma_err_2str(error));
	exit(2);
}

#define CHECK(call) check(call, #call)

/* What both sides have. `messages` holds the number that goes and the one that comes. */
struct side {
	struct rpma_peer *peer;
	struct rpma_conn *conn;
	struct rpma_cq *cq;
	struct rpma_mr_local *messages_mr;
	uint64_t messages[2];
	unsigned seen[4]; /* completions that came and were not asked for yet; see seen() */
};

enum { OUT, IN };

static void open_side(struct side *side, const char *addr, enum rpma_util_ibv_context_type type)
{
	struct ibv_context *device;

	CHECK(rpma_utils_get_ibv_context(addr, type, &device));
	CHECK(rpma_peer_new(device, &side->peer));
	CHECK(rpma_mr_reg(side->peer, side->messages, sizeof(side->messages),
			  RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &side->messages_mr));
}

static void establish(struct side *side, struct rpma_conn_req *req,
		      const struct rpma_conn_private_data *pdata)
{
	enum rpma_conn_event event;

	CHECK(rpma_conn_req_recv(req, side->messages_mr, IN * 8, 8, NULL));
	CHECK(rpma_conn_req_connect(&req, pdata, &side->conn));
	CHECK(rpma_conn_next_event(side->conn, &event));
	check(event == RPMA_CONN_ESTABLISHED ? 0 : RPMA_E_UNKNOWN, "the connection");
	CHECK(rpma_conn_get_cq(side->conn, &side->cq));
}

/* Waits for event of completions; false when the connection has ended and there are none. */
static bool wait_for_completions(struct side *side)
{
	struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};

	CHECK(rpma_cq_get_fd(side->cq, &fds[0].fd));
	CHECK(rpma_conn_get_event_fd(side->conn, &fds[1].fd));
	check(poll(fds, 2, -1) <= 0, "poll");
	if (fds[0].revents == 0)
		return false;
	CHECK(rpma_cq_wait(side->cq));
	return true;
}

/* IBV_WC_SEND, _RDMA_WRITE and _RDMA_READ are 0, 1 and 2. */
static unsigned *seen(struct side *side, enum ibv_wc_opcode opcode)
{
	return &side->seen[opcode == IBV_WC_RECV ? 3 : opcode];
}

/* The next completion of this kind; false when the connection has ended. */
static bool completed(struct side *side, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;
	int ret;

	while (*seen(side, opcode) == 0) {
		while ((ret = rpma_cq_get_wc(side->cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION) {
			if (!wait_for_completions(side))
				return false;
		}
		check(ret, "rpma_cq_get_wc");
		if (wc.status != IBV_WC_SUCCESS)
			return false;
		++*seen(side, wc.opcode);
	}
	--*seen(side, opcode);
	return true;
}

static bool send_number(struct side *side, uint64_t number)
{
	side->messages[OUT] = number;
	return rpma_send(side->conn, side->messages_mr, OUT * 8, 8, RPMA_F_COMPLETION_ALWAYS,
			 NULL) == 0;
}

/* What a message asked for is made durable, as the program was told to. */
static void persist(const char *how, int fd, char *record)
{
	char *page = (char *)((uintptr_t)record / 4096 * 4096); /* NOLINT */

	if (strcmp(how, "msync") == 0)
		check(msync(page, (size_t)(record - page) + RECORD_BYTES, MS_SYNC), "msync");
	else if (strcmp(how, "fdatasync") == 0)
		check(fdatasync(fd), "fdatasync");
#ifdef HAVE_LIBPMEM
	else if (strcmp(how, "pmem") == 0)
		pmem_persist(record, RECORD_BYTES);
#endif
	else
		check(strcmp(how, "nothing"), how);
}

static void serve(struct side *side, const char *how, int fd, char *log)
{
	while (completed(side, IBV_WC_RECV)) {
		uint64_t number = side->messages[IN];

		if (rpma_recv(side->conn, side->messages_mr, IN * 8, 8, NULL))
			return;
		persist(how, fd, log + number % RECORDS * RECORD_BYTES);
		if (!send_number(side, number) || !completed(side, IBV_WC_SEND))
			return;
	}
}

static int target(const char *file, const char *how)
{
	static struct side side;
	struct rpma_conn_private_data pdata;
	struct rpma_conn_req *req;
	struct rpma_mr_local *mr;
	struct rpma_ep *ep;
	char desc[64], *log;
	uint16_t port;
	size_t size;
	int fd = open(file, O_RDWR | O_CREAT, 0600);

	check(fd < 0 || ftruncate(fd, (off_t)LOG_BYTES), "the file");
	log = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(log == MAP_FAILED, "mmap");
	open_side(&side, "127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL);
	CHECK(rpma_mr_reg(side.peer, log, LOG_BYTES,
			  RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
				  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT |
				  RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY,
			  &mr));
	CHECK(rpma_mr_get_descriptor_size(mr, &size));
	check(size > 56, "the descriptor's size");
	CHECK(rpma_mr_get_descriptor(mr, desc));
	CHECK(rpma_ep_listen(side.peer, "127.0.0.1", "0", &ep));
	CHECK(rpma_ep_get_port(ep, &port));
	printf("port %u\n", port);
	fflush(stdout);
	CHECK(rpma_ep_next_conn_req(ep, NULL, &req));
	pdata = (struct rpma_conn_private_data){desc, (uint8_t)size};
	establish(&side, req, &pdata);
	serve(&side, how, fd, log); /* until the writer has gone */
	CHECK(rpma_conn_disconnect(side.conn));
	CHECK(rpma_conn_delete(&side.conn));
	CHECK(rpma_ep_shutdown(&ep));
	CHECK(rpma_mr_dereg(&mr));
	CHECK(rpma_mr_dereg(&side.messages_mr));
	CHECK(rpma_peer_delete(&side.peer));
	return 0;
}

struct writer {
	struct side side;
	struct rpma_mr_remote *log;
	struct rpma_mr_local *mr;
	uint64_t record[RECORD_BYTES / 8];
};

static int write_record(struct writer *writer, uint64_t number, int flags)
{
	for (size_t i = 0; i < RECORD_BYTES / 8; i++)
		writer->record[i] = number + 1;
	return rpma_write(writer->side.conn, writer->log, number * RECORD_BYTES, writer->mr, 0,
			  RECORD_BYTES, flags, NULL);
}

static int flush_record(struct writer *writer, uint64_t number, int flags)
{
	return rpma_flush(writer->side.conn, writer->log, number * RECORD_BYTES, RECORD_BYTES,
			  RPMA_FLUSH_TYPE_PERSISTENT, flags, NULL);
}

static bool append_flushed(struct writer *writer, uint64_t number)
{
	return write_record(writer, number, RPMA_F_COMPLETION_ON_ERROR) == 0 &&
	       flush_record(writer, number, RPMA_F_COMPLETION_ALWAYS) == 0 &&
	       completed(&writer->side, IBV_WC_RDMA_READ);
}

static bool append_unflushed(struct writer *writer, uint64_t number)
{
	return write_record(writer, number, RPMA_F_COMPLETION_ALWAYS) == 0 &&
	       completed(&writer->side, IBV_WC_RDMA_WRITE);
}

static bool append_after_flush(struct writer *writer, uint64_t number)
{
	return flush_record(writer, number, RPMA_F_COMPLETION_ON_ERROR) == 0 &&
	       append_unflushed(writer, number);
}

static bool append_by_message(struct writer *writer, uint64_t number)
{
	return write_record(writer, number, RPMA_F_COMPLETION_ON_ERROR) == 0 &&
	       send_number(&writer->side, number) && completed(&writer->side, IBV_WC_SEND) &&
	       completed(&writer->side, IBV_WC_RECV) && writer->side.messages[IN] == number &&
	       rpma_recv(writer->side.conn, writer->side.messages_mr, IN * 8, 8, NULL) == 0;
}

static const struct {
	const char *name;
	bool (*append)(struct writer *writer, uint64_t number);
} ways[] = {
	{"flush", append_flushed},
	{"none", append_unflushed},
	{"before", append_after_flush},
	{"message", append_by_message},
};

static void connect_writer(struct writer *writer, const char *addr, const char *port)
{
	struct rpma_conn_private_data pdata;
	struct rpma_peer_cfg *pcfg;
	struct rpma_conn_req *req;

	open_side(&writer->side, addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	CHECK(rpma_mr_reg(writer->side.peer, writer->record, RECORD_BYTES, RPMA_MR_USAGE_WRITE_SRC,
			  &writer->mr));
	CHECK(rpma_conn_req_new(writer->side.peer, addr, port, NULL, &req));
	establish(&writer->side, req, NULL);
	CHECK(rpma_conn_get_private_data(writer->side.conn, &pdata));
	CHECK(rpma_mr_remote_from_descriptor(pdata.ptr, pdata.len, &writer->log));
	/* claimed for every platform: whether it is true is the test's subject */
	CHECK(rpma_peer_cfg_new(&pcfg));
	CHECK(rpma_peer_cfg_set_direct_write_to_pmem(pcfg, true));
	CHECK(rpma_conn_apply_remote_peer_cfg(writer->side.conn, pcfg));
	CHECK(rpma_peer_cfg_delete(&pcfg));
}

static int writer(const char *addr, const char *port, const char *how)
{
	static struct writer writer;
	uint64_t acknowledged = 0;
	size_t way = 0;

	while (way < sizeof(ways) / sizeof(ways[0]) && strcmp(ways[way].name, how) != 0)
		way++;
	check(way == sizeof(ways) / sizeof(ways[0]) ? RPMA_E_INVAL : 0, how);
	connect_writer(&writer, addr, port);
	while (acknowledged < RECORDS && ways[way].append(&writer, acknowledged))
		acknowledged++;
	printf("acknowledged %lu\n", (unsigned long)acknowledged);
	CHECK(rpma_conn_disconnect(writer.side.conn));
	CHECK(rpma_conn_delete(&writer.side.conn));
	CHECK(rpma_mr_remote_delete(&writer.log));
	CHECK(rpma_mr_dereg(&writer.mr));
	CHECK(rpma_mr_dereg(&writer.side.messages_mr));
	CHECK(rpma_peer_delete(&writer.side.peer));
	return 0;
}

int main(int argc, char **argv)
{
	rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_ERROR);
	if (argc == 4 && strcmp(argv[1], "target") == 0)
		return target(argv[2], argv[3]);
	if (argc == 5 && strcmp(argv[1], "writer") == 0)
		return writer(argv[2], argv[3], argv[4]);
	fprintf(stderr, "usage: append target FILE PERSIST | writer ADDR PORT HOW\n");
	return 64;
}
