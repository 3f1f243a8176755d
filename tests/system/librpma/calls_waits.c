/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_waits.c -- cases of waiting: for many connections, for what the device reports by itself.
 */
#include "calls.h"

#include <signal.h>

#define LIVING	      5
#define WRITES	      200
#define RECORD_BYTES  64
#define ALWAYS	      RPMA_F_COMPLETION_ALWAYS
#define OVERRUN_POSTS 64

static void write_one(struct client *client, uint64_t number)
{
	MUST(rpma_write(client->conn, client->dst, 0, client->mr, 0, RECORD_BYTES, ALWAYS,
			(void *)(uintptr_t)number)); /* NOLINT */
}

/* --- many connections ---------------------------------------------------------------------------
 */

struct many {
	struct client client[LIVING + 1]; /* the last one's target dies */
	uint64_t written[LIVING + 1], done[LIVING + 1];
	bool failed;
};

static void fetch(struct many *many, int i)
{
	struct ibv_wc wc;

	while (rpma_cq_get_wc(many->client[i].cq, 1, &wc, NULL) == 0) {
		if (i == LIVING && wc.status != IBV_WC_SUCCESS) {
			many->failed = true;
			continue;
		}
		MUST_HOLD(wc.status == IBV_WC_SUCCESS && wc.wr_id == many->done[i]++);
	}
}

static void take_event(struct many *many, int i)
{
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;

	MUST_HOLD(i == LIVING);
	MUST(rpma_conn_next_event(many->client[i].conn, &event));
	MUST_HOLD(event == RPMA_CONN_CLOSED || event == RPMA_CONN_LOST);
	many->failed = true;
}

/* Writes to one that lives, with one operation under way on each. */
static void write_on(struct many *many, int i)
{
	if (i == LIVING ? many->failed : many->written[i] == WRITES)
		return;
	if (many->written[i] > many->done[i])
		return;
	write_one(&many->client[i], many->written[i]++);
}

static bool all_done(const struct many *many)
{
	for (int i = 0; i < LIVING; i++)
		if (many->done[i] < WRITES)
			return false;
	return many->failed;
}

static void wait_for_all(struct many *many, pid_t to_kill)
{
	struct rpma_wait_item items[2 * (LIVING + 1)] = {{0}};
	size_t ready = 0;

	for (int i = 0; i <= LIVING; i++) {
		items[2 * i].cq = many->client[i].cq;
		items[2 * i + 1].conn = many->client[i].conn;
	}
	while (!all_done(many)) {
		for (int i = 0; i <= LIVING; i++)
			write_on(many, i);
		if (to_kill != 0 && many->done[LIVING] > WRITES / 4) {
			MUST_HOLD(kill(to_kill, SIGKILL) == 0);
			to_kill = 0;
		}
		MUST(rpma_wait(items, 2 * (LIVING + 1), 60000, &ready));
		MUST_HOLD(ready > 0);
		for (int i = 0; i <= LIVING; i++) {
			if (items[2 * i].ready)
				fetch(many, i);
			if (items[2 * i + 1].ready)
				take_event(many, i);
		}
	}
}

int wait_outlives_a_dead_peer(struct calls *c)
{
	const struct option options[] = {
		{RPMA_CONN_OPT_RETRIES, 2},
		{RPMA_CONN_OPT_ACK_TIMEOUT, 14},
	};
	static struct many many;

	many.client[0].peer = session_peer(c->addr, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	for (int i = 0; i <= LIVING; i++) {
		many.client[i].peer = many.client[0].peer;
		client_open(c, &many.client[i], &c->target[i == LIVING], options,
			    NUM_OPTIONS(options));
	}
	wait_for_all(&many, c->target[1].process);
	for (int i = LIVING; i >= 0; i--) {
		if (i > 0)
			many.client[i].peer = NULL;
		client_close(&many.client[i], i != LIVING);
	}
	return 0;
}

/* --- what the device reports by itself ----------------------------------------------------------
 */

static void await_async_event(struct client *client, enum ibv_event_type expected,
			      struct ibv_async_event *event)
{
	struct rpma_wait_item item = {.peer = client->peer};
	int ret;

	do {
		ret = rpma_peer_next_async_event(client->peer, event);
		if (ret == RPMA_E_NO_EVENT)
			MUST(rpma_wait(&item, 1, 60000, NULL));
		else
			session_must(ret, 0, "rpma_peer_next_async_event()");
	} while (ret == RPMA_E_NO_EVENT || event->event_type != expected);
}

/* Completions that the program does not fetch, more than their queue holds. */
int overrun_queue_is_reported(struct calls *c)
{
	static const struct option options[] = {
		{RPMA_CONN_OPT_SQ_SIZE, OVERRUN_POSTS},
		{RPMA_CONN_OPT_CQ_SIZE, 4},
		{RPMA_CONN_OPT_SIGNAL_EVERY, 0},
	};
	struct client client = {0};
	struct ibv_async_event event;
	uint32_t entries = 0;

	client_open(c, &client, &c->target[0], options, NUM_OPTIONS(options));
	MUST(rpma_conn_get_option(client.conn, RPMA_CONN_OPT_CQ_SIZE, &entries));
	MUST_GIVE(RPMA_E_NO_EVENT, rpma_peer_next_async_event(client.peer, &event));
	for (uint32_t i = 0; entries < OVERRUN_POSTS && i < OVERRUN_POSTS; i++)
		(void)rpma_write(client.conn, client.dst, 0, client.mr, 0, 8,
				 RPMA_F_COMPLETION_ALWAYS, NULL);
	if (entries < OVERRUN_POSTS) {
		await_async_event(&client, IBV_EVENT_CQ_ERR, &event);
		MUST_HOLD(event.element.cq->cq_context == client.cq);
	}
	client_close(&client, false);
	return entries < OVERRUN_POSTS ? 0
				       : 77; /* 77: the device gave more than it was asked for */
}
