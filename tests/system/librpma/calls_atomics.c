/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls_atomics.c -- the case of remote atomics: threads with a connection each count in the same
 * eight bytes of the target.
 */
#include "calls.h"

#include <pthread.h>

#define COUNTERS  4
#define ADDS	  300
#define SWAPS	  60
#define PIPELINED 8
#define ALWAYS	  RPMA_F_COMPLETION_ALWAYS

struct counter {
	struct client client;
	pthread_t thread;
	unsigned char *seen; /* shared: each value before an addition is seen once */
};

static uint64_t number_at(const unsigned char *memory, size_t offset)
{
	uint64_t number;

	memcpy(&number, memory + offset, sizeof(number));
	return number;
}

static void add(struct counter *counter, uint64_t number)
{
	MUST(rpma_atomic_fetch_add(counter->client.conn, counter->client.dst, 0, counter->client.mr,
				   number % PIPELINED * 8, 1, ALWAYS,
				   (void *)(uintptr_t)number)); /* NOLINT */
}

static void *count(void *arg)
{
	struct counter *counter = arg;
	uint64_t started = 0;

	for (uint64_t done = 0; done < ADDS; done++) {
		while (started < ADDS && started < done + PIPELINED)
			add(counter, started++);
		struct ibv_wc wc = client_completion(&counter->client);
		MUST_HOLD(wc.wr_id == done && wc.opcode == IBV_WC_FETCH_ADD);
		uint64_t before = number_at(counter->client.memory, done % PIPELINED * 8);
		MUST_HOLD(before < (uint64_t)COUNTERS * ADDS);
		MUST_HOLD(__atomic_fetch_add(&counter->seen[before], 1, __ATOMIC_SEQ_CST) == 0);
	}
	return NULL;
}

/* Adds one by exchanging what is there, until no other counter was quicker. */
static void *swap(void *arg)
{
	struct counter *counter = arg;
	struct client *client = &counter->client;
	uint64_t expected = 0;

	for (int done = 0; done < SWAPS;) {
		MUST(rpma_atomic_compare_swap(client->conn, client->dst, 8, client->mr, 0, expected,
					      expected + 1, ALWAYS, NULL));
		MUST_HOLD(client_completion(client).opcode == IBV_WC_COMP_SWAP);
		uint64_t before = number_at(client->memory, 0);
		done += before == expected;
		expected = before == expected ? expected + 1 : before;
	}
	return NULL;
}

static void run(struct counter *counters, void *(*work)(void *))
{
	for (int i = 0; i < COUNTERS; i++)
		MUST_HOLD(pthread_create(&counters[i].thread, NULL, work, &counters[i]) == 0);
	for (int i = 0; i < COUNTERS; i++)
		MUST_HOLD(pthread_join(counters[i].thread, NULL) == 0);
}

/* Modulo 2 to the power of 64, but only at offsets that are multiples of 8. */
static void count_down(struct client *client)
{
	MUST(rpma_atomic_fetch_add(client->conn, client->dst, 16, client->mr, 0, UINT64_MAX, ALWAYS,
				   NULL));
	client_completion(client);
	MUST_HOLD(number_at(client->memory, 0) == 0);
	MUST(rpma_atomic_fetch_add(client->conn, client->dst, 16, client->mr, 0, 1, ALWAYS, NULL));
	client_completion(client);
	MUST_HOLD(number_at(client->memory, 0) == UINT64_MAX);
	MUST_GIVE(RPMA_E_INVAL, rpma_atomic_fetch_add(client->conn, client->dst, 12, client->mr, 0,
						      1, ALWAYS, NULL));
}

/* In one list with a flush, natively where the device has it. */
static void count_in_a_list(struct client *client, const struct target *target)
{
	const int more = RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE;

	MUST(rpma_flush(client->conn, client->dst, 0, 8, RPMA_FLUSH_TYPE_VISIBILITY, more, NULL));
	MUST(rpma_atomic_compare_swap(client->conn, client->dst, 24, client->mr, 0, 0, 5, more,
				      NULL));
	MUST(rpma_atomic_fetch_add(client->conn, client->dst, 24, client->mr, 8, 2, ALWAYS, NULL));
	MUST_HOLD(client_completion(client).opcode == IBV_WC_FETCH_ADD);
	MUST_HOLD(number_at(client->memory, 0) == 0);
	MUST_HOLD(number_at(client->memory, 8) == 5);
	MUST_HOLD(number_at(target->memory, 24) == 7);
}

int atomics_are_exact(struct calls *c)
{
	static unsigned char seen[COUNTERS * ADDS];
	static struct counter counters[COUNTERS];
	struct rpma_peer *peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	int caps = 0;

	MUST(rpma_peer_get_caps(peer, &caps));
	if (!(caps & RPMA_PEER_CAP_ATOMICS)) {
		fprintf(stderr, "the device has no atomics\n");
		MUST(rpma_peer_delete(&peer));
		return 77;
	}
	for (int i = 0; i < COUNTERS; i++) {
		counters[i] = (struct counter){.client.peer = peer, .seen = seen};
		client_open(c, &counters[i].client, &c->target[0], NULL, 0);
	}
	run(counters, count);
	run(counters, swap);
	MUST_HOLD(number_at(c->target[0].memory, 0) == (uint64_t)COUNTERS * ADDS);
	MUST_HOLD(number_at(c->target[0].memory, 8) == (uint64_t)COUNTERS * SWAPS);
	count_down(&counters[0].client);
	count_in_a_list(&counters[0].client, &c->target[0]);
	for (int i = 0; i < COUNTERS; i++) {
		counters[i].client.peer = NULL;
		client_close(&counters[i].client, true);
	}
	MUST(rpma_peer_delete(&peer));
	return 0;
}
