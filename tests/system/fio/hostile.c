/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile.c -- the other end of a connection of the fio engine, when it is not one.
 *
 *	fio_hostile attack ADDRESS PORT HANDSHAKE SEED COUNT
 *		connects with this handshake, in hex, which is welcome, posts so many things that
 *		no client does, and prints how many were posted
 *	fio_hostile liar ADDRESS WORD HOW
 *		prints its port; to one client it offers 1 MiB with this word in its reply, and
 *		answers its requests as no server does: see enum lie
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/random.h"
#include "common/rdma/connection.h"
#include "common/rdma/gpspm.h"
#include "common/rdma/handshake.h"
#include "common/rdma/listen.h"
#include "common/rdma/region.h"

#define DEPTH	     64
#define SLOT_BYTES   4096
#define REGION_BYTES (1U << 20)
#define HOLD_MS	     60000

enum lie { LIE_SLOT, LIE_TWICE, LIE_SHORT, LIE_STATUS, LIE_LONG, LIE_UNASKED, LIE_LEAVE, LIES };

static const char *const lies[LIES] = {"slot", "twice",	  "short", "status",
				       "long", "unasked", "leave"};

struct end {
	struct rpma_peer *peer;
	struct connection *connection;
	struct rpma_conn *conn;
	struct rpma_mr_local *mr; /* for memory: DEPTH slots */
	uint8_t memory[DEPTH][SLOT_BYTES];
	uint64_t random;
};

static int fail(const char *what)
{
	fprintf(stderr, "fio_hostile: %s (%s)\n", what, failure_get()->text);
	return 1;
}

static uint64_t chance(struct end *e, uint64_t below)
{
	return random_next(&e->random) % below;
}

static bool open_end(struct end *e, const char *address, enum rpma_util_ibv_context_type type)
{
	char device[64];

	return connection_open_device(address, type, &e->peer, device) == 0 &&
	       rpma_mr_reg(e->peer, e->memory, sizeof(e->memory),
			   RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_WRITE_SRC |
				   RPMA_MR_USAGE_READ_DST,
			   &e->mr) == 0;
}

static void close_end(struct end *e)
{
	connection_close(&e->connection);
	rpma_mr_dereg(&e->mr);
	rpma_peer_delete(&e->peer);
}

/* --- a client ------------------------------------------------------------- */

/* A request, near enough to a good one. */
static size_t bad_request(struct end *e, uint8_t *bytes)
{
	static const uint64_t wild[] = {0,	    1,	       REGION_BYTES - 1, REGION_BYTES,
					UINT64_MAX, 1ULL << 63};
	const size_t count = sizeof(wild) / sizeof(wild[0]);
	const struct persist_request request = {(uint32_t)chance(e, UINT32_MAX),
						wild[chance(e, count)], wild[chance(e, count)]};

	persist_encode_request(&request, bytes);
	if (chance(e, 4) == 0)
		bytes[chance(e, PERSIST_REQUEST_BYTES)] = (uint8_t)chance(e, 256);
	return PERSIST_REQUEST_BYTES;
}

static int post_one(struct end *e, struct rpma_mr_remote *region, size_t slot)
{
	static const size_t lengths[] = {1, 8, 23, 25, 31, 32, 33, SLOT_BYTES};
	const size_t at = slot * SLOT_BYTES;
	const int flags = RPMA_F_COMPLETION_ALWAYS;
	size_t len = lengths[chance(e, sizeof(lengths) / sizeof(lengths[0]))];

	for (size_t i = 0; i < SLOT_BYTES; i++)
		e->memory[slot][i] = (uint8_t)chance(e, 256);
	switch (chance(e, 8)) {
	case 0:
		return rpma_send(e->conn, e->mr, at, len, flags, NULL);
	case 1:
		return rpma_write_with_imm(e->conn, region, 0, e->mr, at, 8, flags,
					   (uint32_t)chance(e, UINT32_MAX), NULL);
	case 2:
		return rpma_write(e->conn, region, REGION_BYTES - 8, e->mr, at, len, flags, NULL);
	case 3:
		return rpma_send_with_imm(e->conn, e->mr, at, len, flags, 7, NULL);
	default:
		len = bad_request(e, e->memory[slot]);
		return rpma_send(e->conn, e->mr, at, len, flags, NULL);
	}
}

/* Some receives, or none: then the server's answers find no place. */
static void post_receives(struct end *e)
{
	for (size_t i = chance(e, 2) * DEPTH / 2; i > 0; i--)
		rpma_recv(e->conn, e->mr, (i - 1) * SLOT_BYTES, SLOT_BYTES, NULL);
}

/* Waits for one completion, a little; false: the connection is broken. */
static bool unbroken(struct end *e)
{
	struct rpma_cq *cq = connection_cq(e->connection);
	struct pollfd ready = {.events = POLLIN};
	struct ibv_wc wc = {.status = IBV_WC_SUCCESS};

	if (rpma_cq_get_wc(cq, 1, &wc, NULL) == RPMA_E_NO_COMPLETION &&
	    rpma_cq_get_fd(cq, &ready.fd) == 0 && poll(&ready, 1, 20) > 0) {
		rpma_cq_wait(cq);
		rpma_cq_get_wc(cq, 1, &wc, NULL);
	}
	return wc.status == IBV_WC_SUCCESS;
}

static int attack(char **words)
{
	static const struct connection_queues queues = {
		.sq_size = DEPTH, .cq_size = 2 * DEPTH, .rq_size = DEPTH};
	static const struct connection_cfg cfg = {
		.peer_name = "the victim", .stop_fd = -1, .queues = &queues};
	static struct end e;
	struct rpma_mr_remote *region = NULL;
	struct handshake_reply reply;
	uint8_t handshake[HANDSHAKE_REQUEST_BYTES];
	unsigned long count = strtoul(words[4], NULL, 10), posted = 0;
	unsigned value;
	const void *got;
	size_t got_len;

	for (size_t i = 0; i < sizeof(handshake) && sscanf(words[2] + 2 * i, "%2x", &value) == 1;
	     i++)
		handshake[i] = (uint8_t)value;
	e.random = strtoul(words[3], NULL, 10);
	if (!open_end(&e, words[0], RPMA_UTIL_IBV_CONTEXT_REMOTE))
		return fail("no device");
	if (connection_connect(&e.connection, e.peer, words[0],
			       (uint16_t)strtoul(words[1], NULL, 10), &cfg, handshake,
			       sizeof(handshake)) != 0 ||
	    connection_handshake(e.connection, &got, &got_len) != 0 ||
	    handshake_decode_reply(got, got_len, &reply) != 0 ||
	    rpma_mr_remote_from_descriptor(reply.mr_desc, reply.mr_desc_bytes, &region) != 0)
		return fail("not welcome");
	e.conn = connection_conn(e.connection);
	post_receives(&e);
	while (posted < count && unbroken(&e) && post_one(&e, region, posted % DEPTH) == 0)
		posted++;
	printf("%lu\n", posted);
	rpma_mr_remote_delete(&region);
	close_end(&e);
	return 0;
}

/* --- a server ------------------------------------------------------------- */

static int post_requests(struct rpma_conn_req *req, void *arg)
{
	struct end *e = arg;
	int ret = 0;

	for (uintptr_t i = 0; ret == 0 && i < DEPTH / 2; i++)
		ret = rpma_conn_req_recv(req, e->mr, i * SLOT_BYTES, SLOT_BYTES, (const void *)i);
	return ret;
}

static void say(struct end *e, uint32_t slot, uint32_t status, size_t len)
{
	uint8_t *bytes = e->memory[DEPTH - 1];
	const struct persist_answer answer = {slot, PERSIST_DONE};

	memset(bytes, 0, SLOT_BYTES);
	persist_encode_answer(&answer, bytes);
	if (status != 0)
		memset(bytes + 4, (int)status, 4);
	rpma_send(e->conn, e->mr, (DEPTH - 1) * SLOT_BYTES, len, RPMA_F_COMPLETION_ALWAYS, NULL);
}

static void answer(struct end *e, enum lie lie, uint32_t slot)
{
	switch (lie) {
	case LIE_SLOT:
		say(e, slot + 1000000, 0, PERSIST_ANSWER_BYTES);
		break;
	case LIE_TWICE:
		say(e, slot, 0, PERSIST_ANSWER_BYTES);
		say(e, slot, 0, PERSIST_ANSWER_BYTES);
		break;
	case LIE_SHORT:
		say(e, slot, 0, 3);
		break;
	case LIE_STATUS:
		say(e, slot, 0xff, PERSIST_ANSWER_BYTES);
		break;
	case LIE_LONG:
		say(e, slot, 0, SLOT_BYTES);
		break;
	case LIE_UNASKED:
		say(e, (slot + 1) % 2, 0, PERSIST_ANSWER_BYTES);
		break;
	default:
		connection_close(&e->connection);
		break;
	}
}

/* Until the client has gone. */
static void serve(struct end *e, enum lie lie)
{
	struct persist_request request;
	struct ibv_wc wc;

	while (e->connection != NULL && connection_alive(e->connection, 1)) {
		if (rpma_cq_get_wc(connection_cq(e->connection), 1, &wc, NULL) != 0 ||
		    wc.status != IBV_WC_SUCCESS || wc.opcode != IBV_WC_RECV ||
		    persist_decode_request(e->memory[wc.wr_id], wc.byte_len, &request) != 0)
			continue;
		rpma_recv(e->conn, e->mr, wc.wr_id * SLOT_BYTES, SLOT_BYTES,
			  (const void *)(uintptr_t)wc.wr_id);
		answer(e, lie, request.slot);
	}
}

static bool describe(struct end *e, const char *word, struct region *region,
		     uint8_t bytes[HANDSHAKE_REPLY_BYTES])
{
	static uint8_t memory[REGION_BYTES];
	const struct region_memory what = {
		.bytes = memory, .size = sizeof(memory), .kind = TARGET_DRAM, .of = "the liar"};
	struct handshake_reply reply = {.version = HANDSHAKE_VERSION};

	if (region_open(region, e->peer, "soft", &what) != 0 ||
	    region_describe_host(false, reply.pcfg_desc, &reply.pcfg_desc_bytes) != 0)
		return false;
	reply.word = strtoull(word, NULL, 0);
	reply.mr_desc_bytes = region->desc_bytes;
	memcpy(reply.mr_desc, region->desc, region->desc_bytes);
	handshake_encode_reply(&reply, bytes);
	return true;
}

static int lie_to(struct end *e, const char *address, enum lie lie, const uint8_t *reply)
{
	const struct connection_queues queues = {.sq_size = DEPTH,
						 .cq_size = 2 * DEPTH,
						 .rq_size = DEPTH,
						 .post = post_requests,
						 .arg = e};
	const struct connection_cfg cfg = {
		.peer_name = "the victim", .stop_fd = -1, .queues = &queues};
	struct rpma_conn_req *req = NULL;
	struct rpma_ep *ep = NULL;
	uint16_t port = 0;
	int fd;

	if (endpoint_listen(e->peer, address, &port, &ep, &fd) != 0)
		return fail("cannot listen");
	printf("port %u\n", port);
	fflush(stdout);
	for (struct pollfd ready = {fd, POLLIN, 0}; req == NULL && poll(&ready, 1, HOLD_MS) > 0;)
		endpoint_next(ep, &queues, NULL, &req);
	if (req != NULL && connection_accept(&e->connection, e->peer, &req, &cfg, reply,
					     HANDSHAKE_REPLY_BYTES) == 0) {
		e->conn = connection_conn(e->connection);
		serve(e, lie);
	}
	rpma_ep_shutdown(&ep);
	return 0;
}

static int liar(char **words)
{
	static struct end e;
	struct region region;
	uint8_t reply[HANDSHAKE_REPLY_BYTES];
	unsigned lie = 0;
	int ret;

	while (lie < LIES && strcmp(words[2], lies[lie]) != 0)
		lie++;
	if (lie == LIES || !open_end(&e, words[0], RPMA_UTIL_IBV_CONTEXT_LOCAL) ||
	    !describe(&e, words[1], &region, reply))
		return fail("cannot begin");
	ret = lie_to(&e, words[0], (enum lie)lie, reply);
	connection_close(&e.connection);
	region_close(&region);
	close_end(&e);
	return ret;
}

int main(int argc, char **argv)
{
	connection_log_to_failures(false);
	if (argc == 7 && strcmp(argv[1], "attack") == 0)
		return attack(argv + 2);
	if (argc == 5 && strcmp(argv[1], "liar") == 0)
		return liar(argv + 2);
	fprintf(stderr, "usage: %s attack|liar ...\n", argv[0]);
	return 64;
}
