/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-acknowledged-twice; at main; event */
/* SHOWS: killed|double free|nothing */
/*
 * From a server of keys and values (valkey-io/valkey issue 2430): the handler of a disconnect
 * acknowledges the event, and so does the loop that has called it.
 */
#include "zoo.h"

static bool is_over;

static void on_event(struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_DISCONNECTED)
		return;
	is_over = true;
	MUST(rdma_ack_cm_event(event));
}

int main(void)
{
	struct rdma_cm_event *event;

	cm_open(NULL, NULL, NULL);
	MUST(rdma_disconnect(cm.client));
	while (!is_over) {
		MUST(rdma_get_cm_event(cm.listening, &event));
		on_event(event);
		rdma_ack_cm_event(event); /* HERE */
	}
	return 0;
}
