/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hostile.c -- a client of rpma-bench's server that means no good.
 * Usage: bench_hostile ADDRESS PORT attack COUNT SEED | unexpected | hold
 *
 *	attack     attacks, one after the other
 *	unexpected  queue pairs that are not of the repeat, between those that are; exits
 *	           with 0 if the server told them apart
 *	hold       is welcomed, prints so on stdout, and stays until it is cut off
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attacks.h"
#include "common/base/failure.h"
#include "tools/rpma-bench/protocol/exchange.h"

#define QPS	2
#define HOLD_MS 60000

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
		if (attack_qp(v, ready, i, ready->token + 1) != NULL)
			return fail("a queue pair with another token was taken");
		if (attack_qp(v, ready, i + 1, ready->token) != NULL)
			return fail("a queue pair out of order was taken");
		qps[i] = attack_qp(v, ready, i, ready->token);
		if (qps[i] == NULL)
			return fail("a queue pair of the repeat was rejected");
	}
	if (attack_qp(v, ready, QPS - 1, ready->token) != NULL)
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
	const struct message_begin begin = attack_good_begin(QPS);
	struct connection *control = attack_welcomed(v), *qps[QPS] = {NULL};
	struct message_ready ready;
	int ret;

	if (control == NULL || attack_begin(control, &begin, &ready) != 0)
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
	struct connection *control = attack_welcomed(v);
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
