/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attacks.c -- near misses at each step that a client has with a server: begin, queue pairs,
 * requests, end. Handshakes that are none come from ping_hostile, hellos from fuzz_message.
 */
#include "attacks.h"

#include <errno.h>
#include <string.h>

#include "common/rdma/gpspm.h"
#include "common/rdma/handshake.h"
#include "names/random.h"
#include "tools/rpma-bench/protocol/exchange.h"

#define ANSWER_MS 5000

uint64_t attack_random(struct victim *victim, uint64_t below)
{
	return random_next(&victim->random) % below;
}

static void fill(struct victim *v, uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)attack_random(v, 256);
}

/* A few bytes of a good message become others, or it loses its end. */
static size_t mutate(struct victim *v, uint8_t *bytes, size_t len)
{
	for (uint64_t changes = attack_random(v, 4); changes > 0; changes--)
		bytes[attack_random(v, len)] = (uint8_t)attack_random(v, 256);
	return attack_random(v, 4) == 0 ? (size_t)attack_random(v, len) + 1 : len;
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

static struct connection *control(struct victim *v)
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

struct connection *attack_welcomed(struct victim *victim)
{
	const struct message hello = {.type = MESSAGE_HELLO};
	struct connection *connection = control(victim);
	struct exchange_buffer buffer;
	struct message m;

	if (connection == NULL)
		return NULL;
	if (exchange_send(connection, &hello) != 0 ||
	    exchange_receive(connection, MESSAGE_WELCOME, ANSWER_MS, &buffer, &m) != 0 ||
	    take_text(connection) != 0)
		connection_close(&connection);
	return connection;
}

struct message_begin attack_good_begin(uint32_t qps)
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

int attack_begin(struct connection *connection, const struct message_begin *begin,
		 struct message_ready *ready)
{
	struct message m = {.type = MESSAGE_BEGIN}, got;
	struct exchange_buffer buffer;
	int ret;

	m.begin = *begin;
	ret = exchange_send(connection, &m);
	if (ret == 0)
		ret = exchange_receive(connection, MESSAGE_READY, ANSWER_MS, &buffer, &got);
	if (ret == 0)
		*ready = got.ready;
	return ret;
}

struct connection *attack_qp(struct victim *victim, const struct message_ready *ready, uint32_t qp,
			     uint64_t token)
{
	const struct handshake_request request = {HANDSHAKE_VERSION, HANDSHAKE_MEASURE, qp, token};

	return shake_hands(victim, &request, ready->port);
}

/* --- the attacks ------------------------------------------------------------ */

static void send_and_close(struct connection *connection, const void *bytes, size_t len)
{
	/* it may be cut off in the middle of it */
	if (connection_send(connection, bytes, len) == 0)
		connection_alive(connection, (int)len % 20);
	connection_close(&connection);
}

static void mutated_begin(struct victim *v)
{
	struct message m = {.type = MESSAGE_BEGIN};
	struct connection *connection = attack_welcomed(v);
	uint8_t bytes[MESSAGE_MAX];
	size_t len;

	if (connection == NULL)
		return;
	m.begin = attack_good_begin(1);
	len = message_encode(&m, bytes);
	send_and_close(connection, bytes, mutate(v, bytes, len));
}

/* Any type of message, whatever is due. */
static void out_of_turn(struct victim *v)
{
	struct message m = {.type = (enum message_type)(1 + attack_random(v, MESSAGE_ALIVE))};
	struct connection *connection = attack_random(v, 2) == 0 ? control(v) : attack_welcomed(v);

	if (connection == NULL)
		return;
	if (m.type == MESSAGE_BEGIN)
		m.begin = attack_good_begin(2);
	else if (m.type == MESSAGE_END)
		m.end.qps_count = (uint32_t)attack_random(v, PARAMS_QPS_MAX);
	exchange_send(connection, &m);
	if (m.type == MESSAGE_BEGIN)
		exchange_send(connection, &m);
	connection_alive(connection, 1);
	connection_close(&connection);
}

/* Whatever the codec lets through, up to the most there is of all. */
static struct message_begin greedy_begin(struct victim *v)
{
	struct message_begin b = attack_good_begin(1);
	struct params *p = &b.params;

	p->op = (enum bench_op)attack_random(v, BENCH_OPS);
	if (p->op == BENCH_WRITE)
		p->persist = (enum bench_persist)attack_random(v, BENCH_PERSISTS);
	p->size_bytes = (params_facts(p) & OP_8_BYTES) != 0 ? 8 : 1ULL << attack_random(v, 31);
	p->depth = 1U << attack_random(v, 13);
	p->threads = 1U << attack_random(v, 4);
	p->connections = 1U << attack_random(v, 5);
	p->target = attack_random(v, 4) == 0 ? 9 : 0;
	p->srq = params_answered(p) && attack_random(v, 2) == 0;
	return b;
}

static void greedy(struct victim *v)
{
	const struct message end = {.type = MESSAGE_END};
	const struct message_begin b = greedy_begin(v);
	struct connection *connection = attack_welcomed(v), *qp = NULL;
	struct message_ready ready;

	if (connection == NULL)
		return;
	if (attack_begin(connection, &b, &ready) == 0 && ready.refusal[0] == '\0') {
		qp = attack_qp(v, &ready, 0, ready.token + attack_random(v, 2));
		exchange_send(connection, &end);
	}
	connection_close(&connection);
	connection_close(&qp);
}

/* Requests to persist that are none, or of ranges that are the server's own affair. */
static void wrong_requests(struct victim *v)
{
	struct message_begin b = attack_good_begin(1);
	struct connection *connection = attack_welcomed(v), *qp = NULL;
	struct message_ready ready;
	uint8_t bytes[PERSIST_REQUEST_BYTES + 8];

	if (connection == NULL)
		return;
	b.params.persist = attack_random(v, 2) == 0 ? BENCH_GPSPM : BENCH_GPSPM_RT;
	if (attack_begin(connection, &b, &ready) == 0 && ready.refusal[0] == '\0') {
		qp = attack_qp(v, &ready, 0, ready.token);
		fill(v, bytes, sizeof(bytes));
		if (qp != NULL)
			connection_send(qp, bytes, (size_t)attack_random(v, sizeof(bytes)) + 1);
	}
	connection_close(&connection);
	connection_close(&qp);
}

void attack_any(struct victim *victim)
{
	static void (*const attacks[])(struct victim *) = {
		mutated_begin,
		out_of_turn,
		greedy,
		wrong_requests,
	};

	attacks[attack_random(victim, sizeof(attacks) / sizeof(attacks[0]))](victim);
}
