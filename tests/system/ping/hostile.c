/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile.c -- the other end of an rpma-ping, when it is not one.
 *
 *	ping_hostile server ADDRESS HEX        listens, prints its port, answers one client after
 *	                                       the other with these private data
 *	ping_hostile client ADDRESS PORT HEX   connects with these, prints what the answer was
 *	ping_hostile reply                     prints a good reply of this version, for no memory
 *	ping_hostile request ROLE              prints a good request
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/rdma/connection.h"
#include "common/rdma/handshake.h"
#include "common/rdma/listen.h"

#define DATA_MAX 255
#define HOLD_MS	 60000

static const struct connection_queues queues = {.sq_size = 4, .cq_size = 6, .rq_size = 1};
static const struct connection_cfg cfg = {
	.peer_name = "the victim", .stop_fd = -1, .queues = &queues};

static int fail(const char *what)
{
	fprintf(stderr, "ping_hostile: %s (%s)\n", what, failure_get()->text);
	return 1;
}

static size_t parse_hex(const char *text, uint8_t bytes[DATA_MAX])
{
	size_t len = 0;
	unsigned value;

	while (len < DATA_MAX && sscanf(text + 2 * len, "%2x", &value) == 1)
		bytes[len++] = (uint8_t)value;
	return len;
}

static void print_hex(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

static struct rpma_peer *peer_of(const char *address, enum rpma_util_ibv_context_type type)
{
	struct rpma_peer *peer = NULL;
	char device[64];

	connection_open_device(address, type, &peer, device);
	return peer;
}

static void answer(struct rpma_peer *peer, struct rpma_conn_req *req, const uint8_t *bytes,
		   size_t len)
{
	struct connection *connection = NULL;

	if (connection_accept(&connection, peer, &req, &cfg, bytes, len) == 0)
		connection_alive(connection, HOLD_MS);
	connection_close(&connection);
}

static int serve(const char *address, const char *hex)
{
	struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	struct rpma_conn_cfg *conn_cfg = NULL;
	struct rpma_ep *ep = NULL;
	uint8_t bytes[DATA_MAX];
	size_t len = parse_hex(hex, bytes);
	uint16_t port = 0;
	int fd;

	if (peer == NULL || connection_conn_cfg(&cfg, &conn_cfg) != 0 ||
	    endpoint_listen(peer, address, &port, &ep, &fd) != 0)
		return fail("cannot listen");
	printf("port %u\n", port);
	fflush(stdout);
	for (;;) {
		struct pollfd ready = {fd, POLLIN, 0};
		struct rpma_conn_req *req = NULL;

		poll(&ready, 1, -1);
		if (rpma_ep_next_conn_req(ep, conn_cfg, &req) == 0)
			answer(peer, req, bytes, len);
	}
}

static int call(const char *address, const char *port, const char *hex)
{
	struct rpma_peer *peer = peer_of(address, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	struct handshake_reply reply;
	struct connection *connection = NULL;
	uint8_t bytes[DATA_MAX];
	size_t len = parse_hex(hex, bytes), got_len;
	const void *got;

	if (peer == NULL)
		return fail("no device");
	if (connection_connect(&connection, peer, address, (uint16_t)strtoul(port, NULL, 10), &cfg,
			       bytes, len) != 0)
		puts("refused");
	else if (connection_handshake(connection, &got, &got_len) != 0 ||
		 handshake_decode_reply(got, got_len, &reply) != 0)
		puts("junk");
	else
		printf("answer %d\n", (int)reply.answer);
	connection_close(&connection);
	rpma_peer_delete(&peer);
	return 0;
}

static int print_reply(void)
{
	const struct handshake_reply reply = {.version = HANDSHAKE_VERSION};
	uint8_t bytes[HANDSHAKE_REPLY_BYTES];

	handshake_encode_reply(&reply, bytes);
	print_hex(bytes, sizeof(bytes));
	return 0;
}

static int print_request(const char *role)
{
	const struct handshake_request request = {
		HANDSHAKE_VERSION, (enum handshake_role)strtoul(role, NULL, 10), 0, 64};
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	handshake_encode_request(&request, bytes);
	print_hex(bytes, sizeof(bytes));
	return 0;
}

int main(int argc, char **argv)
{
	connection_log_to_failures(false);
	if (argc == 4 && strcmp(argv[1], "server") == 0)
		return serve(argv[2], argv[3]);
	if (argc == 5 && strcmp(argv[1], "client") == 0)
		return call(argv[2], argv[3], argv[4]);
	if (argc == 2 && strcmp(argv[1], "reply") == 0)
		return print_reply();
	if (argc == 3 && strcmp(argv[1], "request") == 0)
		return print_request(argv[2]);
	fprintf(stderr, "usage: %s server|client|reply|request ...\n", argv[0]);
	return 64;
}
