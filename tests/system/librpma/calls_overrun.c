/* SPDX-License-Identifier: BSD-3-Clause */
/* calls_overrun.c -- the case of what the device reports by itself. */
#include "calls.h"

#define OVERRUN_POSTS 64

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
