/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile.c -- a client of rpma-bench's server that means no good. Handshakes
 * that are none come from ping_hostile; malformed runs and other messages from fuzz_message.
 * Usage: bench_hostile ADDRESS PORT attack COUNT SEED | unexpected | hold
 *
 *	attack     near misses at each step that a client has with a server, one after the
 *	           other; the same seed makes the same ones
 *	unexpected  queue pairs that are not of the repeat, between those that are; exits
 *	           with 0 if the server told them apart
 *	hold       is welcomed, prints so on stdout, and stays until it is cut off
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/rdma/connection.h"
#include "common/rdma/gpspm.h"
#include "common/rdma/handshake.h"
#include "names/random.h"
#include "tools/rpma-bench/protocol/exchange.h"

#define QPS	  2
#define HOLD_MS	  60000
#define ANSWER_MS 5000

struct victim {
	struct rpma_peer *peer;
	const char *address;
	uint16_t port;
	uint64_t random;
};

static uint64_t below(struct victim *v, uint64_t count)
{
	return random_next(&v->random) % count;
}

static void fill(struct victim *v, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)below(v, 256);
}

static struct connection *shake_hands(struct victim *v, const struct handshake_request *request,
				      uint16_t port)
{
	const struct connection_cfg cfg = {.peer_name = "the victim", .stop_fd = -1};
	struct connection *connection = NULL;
	uint8_t bytes[HANDSHAKE_REQUEST_BYTES];

	handshake_encode_request(request, bytes);
	if (connection_connect(&connection, v->peer, v->address, port, &cfg, bytes,
			       sizeof(bytes)) != 0)
		return NULL;
	return connection;
}

static struct connection *control_of(struct victim *v)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_CONTROL, 0, 0};

	return shake_hands(v, &request, v->port);
}

static int take_text(struct connection *connection)
{
	struct exchange_buffer buffer;
	struct message m;
	int ret;

	do {
		ret = exchange_receive(connection, MESSAGE_TEXT, ANSWER_MS, &buffer, &m);
	} while (ret == 0 && m.text.offset + m.text.bytes < m.text.total);
	return ret;
}

static struct connection *welcomed(struct victim *v)
{
	const struct message run = {.type = MESSAGE_RUN};
	struct connection *connection = control_of(v);
	struct exchange_buffer buffer;
	struct message m;

	if (connection == NULL)
		return NULL;
	if (exchange_send(connection, &run) != 0 ||
	    exchange_receive(connection, MESSAGE_WELCOME, ANSWER_MS, &buffer, &m) != 0 ||
	    take_text(connection) != 0)
		connection_close(&connection);
	return connection;
}

static struct message_begin good_begin(uint32_t qps)
{
	return (struct message_begin){
		.params = {.test = BENCH_LAT,
			   .op = BENCH_WRITE,
			   .size_bytes = 64,
			   .depth = 1,
			   .threads = 1,
			   .connections = qps,
			   .batch = 1,
			   .signal_every = 1},
		.duration_ns = 1000000000,
		.verify = 1,
		.knobs = CONNECTION_KNOBS_NONE,
	};
}

static int begin(struct connection *connection, const struct message_begin *wanted,
		 struct message_ready *ready)
{
	struct message m = {.type = MESSAGE_BEGIN}, got;
	struct exchange_buffer buffer;
	int ret;

	m.begin = *wanted;
	ret = exchange_send(connection, &m);
	if (ret == 0)
		ret = exchange_receive(connection, MESSAGE_READY, ANSWER_MS, &buffer, &got);
	if (ret == 0)
		*ready = got.ready;
	return ret;
}

static struct connection *connect_qp(struct victim *v, const struct message_ready *ready,
				     uint32_t qp, uint64_t token)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, qp, token};

	return shake_hands(v, &request, ready->port);
}

/* --- the attacks ------------------------------------------------------------ */

/* Any type of message, whatever is due, and bytes that are none. */
static void out_of_turn(struct victim *v)
{
	struct message m = {.type = (enum message_type)(1 + below(v, MESSAGE_ALIVE))};
	struct connection *connection = below(v, 2) == 0 ? control_of(v) : welcomed(v);
	uint8_t junk[64];

	if (connection == NULL)
		return;
	if (m.type == MESSAGE_BEGIN)
		m.begin = good_begin(2);
	else if (m.type == MESSAGE_END)
		m.end.qps_count = (uint32_t)below(v, PARAMS_QPS_MAX);
	exchange_send(connection, &m);
	if (m.type == MESSAGE_BEGIN)
		exchange_send(connection, &m);
	fill(v, junk, sizeof(junk));
	connection_send(connection, junk, (size_t)below(v, sizeof(junk)) + 1);
	connection_alive(connection, 1);
	connection_close(&connection);
}

/* The largest values that the codec lets through. */
static struct message_begin greedy_begin(struct victim *v)
{
	struct message_begin b = good_begin(1);
	struct params *p = &b.params;

	p->op = (enum bench_op)below(v, BENCH_OPS);
	if (p->op == BENCH_WRITE)
		p->persist = (enum bench_persist)below(v, BENCH_PERSISTS);
	p->size_bytes = (params_facts(p) & OP_8_BYTES) != 0 ? 8 : 1ULL << below(v, 31);
	p->depth = 1U << below(v, 13);
	p->threads = 1U << below(v, 4);
	p->connections = 1U << below(v, 5);
	p->target = below(v, 4) == 0 ? 9 : 0;
	p->srq = params_answered(p) && below(v, 2) == 0;
	return b;
}

static void greedy(struct victim *v)
{
	const struct message end = {.type = MESSAGE_END};
	const struct message_begin b = greedy_begin(v);
	struct connection *connection = welcomed(v), *qp = NULL;
	struct message_ready ready;

	if (connection == NULL)
		return;
	if (begin(connection, &b, &ready) == 0 && ready.refusal[0] == '\0') {
		qp = connect_qp(v, &ready, 0, ready.token + below(v, 2));
		exchange_send(connection, &end);
	}
	connection_close(&connection);
	connection_close(&qp);
}

/* Requests to persist that are none, or of ranges that are the server's own affair. */
static void wrong_requests(struct victim *v)
{
	struct message_begin b = good_begin(1);
	struct connection *connection = welcomed(v), *qp = NULL;
	struct message_ready ready;
	uint8_t bytes[PERSIST_REQUEST_BYTES + 8];

	if (connection == NULL)
		return;
	b.params.persist = below(v, 2) == 0 ? BENCH_GPSPM : BENCH_GPSPM_RT;
	if (begin(connection, &b, &ready) == 0 && ready.refusal[0] == '\0') {
		qp = connect_qp(v, &ready, 0, ready.token);
		fill(v, bytes, sizeof(bytes));
		if (qp != NULL)
			connection_send(qp, bytes, (size_t)below(v, sizeof(bytes)) + 1);
	}
	connection_close(&connection);
	connection_close(&qp);
}

static void attack_any(struct victim *v)
{
	static void (*const attacks[])(struct victim *) = {
		out_of_turn,
		greedy,
		wrong_requests,
	};

	attacks[below(v, sizeof(attacks) / sizeof(attacks[0]))](v);
}

static int attack(struct victim *victim, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		attack_any(victim);
	return 0;
}

static int fail(const char *what)
{
	fprintf(stderr, "bench_hostile: %s (%s)\n", what, failure_get()->text);
	return 1;
}

/* Each queue pair is tried by an unexpected connection, out of order, and by whom it is for. */
static int connect_qps(struct victim *v, const struct message_ready *ready,
		       struct connection *qps[QPS])
{
	for (uint32_t i = 0; i < QPS; i++) {
		if (connect_qp(v, ready, i, ready->token + 1) != NULL)
			return fail("a queue pair with another token was taken");
		if (connect_qp(v, ready, i + 1, ready->token) != NULL)
			return fail("a queue pair out of order was taken");
		qps[i] = connect_qp(v, ready, i, ready->token);
		if (qps[i] == NULL)
			return fail("a queue pair of the repeat was rejected");
	}
	if (connect_qp(v, ready, QPS - 1, ready->token) != NULL)
		return fail("one queue pair too many was taken");
	return 0;
}

static int run_repeat(struct connection *control)
{
	const struct message start = {.type = MESSAGE_START, .start = {PHASE_MEASURE}};
	struct message end = {.type = MESSAGE_END}, m;
	struct exchange_buffer buffer;

	end.end.qps_count = QPS;
	if (exchange_send(control, &start) != 0 || exchange_send(control, &end) != 0 ||
	    exchange_receive(control, MESSAGE_TEXT, CONNECTION_TIMEOUT_MS, &buffer, &m) != 0)
		return fail("the server did not serve the repeat");
	return 0;
}

static int unexpected(struct victim *v)
{
	const struct message_begin wanted = good_begin(QPS);
	struct connection *control = welcomed(v), *qps[QPS] = {NULL};
	struct message_ready ready;
	int ret;

	if (control == NULL || begin(control, &wanted, &ready) != 0)
		ret = fail("the server did not begin a repeat");
	else if ((ret = connect_qps(v, &ready, qps)) == 0)
		ret = run_repeat(control);
	for (uint32_t i = 0; i < QPS; i++)
		connection_close(&qps[i]);
	connection_close(&control);
	return ret;
}

static int hold(struct victim *v)
{
	struct connection *control = welcomed(v);
	bool cut;

	if (control == NULL)
		return fail("not welcome");
	puts("held");
	fflush(stdout);
	cut = !connection_alive(control, HOLD_MS);
	connection_close(&control);
	return cut ? 0 : fail("never cut off");
}

static int run(struct victim *v, int argc, char **argv)
{
	if (argc == 6 && strcmp(argv[3], "attack") == 0) {
		v->random = strtoul(argv[5], NULL, 10);
		return attack(v, strtoul(argv[4], NULL, 10));
	}
	if (argc == 4 && strcmp(argv[3], "unexpected") == 0)
		return unexpected(v);
	if (argc == 4 && strcmp(argv[3], "hold") == 0)
		return hold(v);
	fprintf(stderr, "usage: %s ADDRESS PORT attack COUNT SEED | unexpected | hold\n", argv[0]);
	return 64;
}

int main(int argc, char **argv)
{
	struct victim victim = {.peer = NULL};
	char device[64];
	int ret;

	if (argc < 4)
		return run(&victim, argc, argv);
	victim.address = argv[1];
	victim.port = (uint16_t)strtoul(argv[2], NULL, 10);
	connection_log_to_failures(false);
	if (connection_open_device(victim.address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &victim.peer,
				   device))
		return fail("no device");
	ret = run(&victim, argc, argv);
	rpma_peer_delete(&victim.peer);
	return ret;
}
