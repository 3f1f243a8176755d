/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-acknowledged-twice; at main; event */
/* SHOWS: killed|double free|nothing */
/* A novice believed that an event may be acknowledged again on the way out, to be safe. */
#include "zoo.h"

int main(void)
{
	struct rdma_cm_event *event;

	cm_open(NULL, NULL, NULL);
	MUST(rdma_disconnect(cm.client));
	event = cm_take(cm.listening, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_ack_cm_event(event));
	MUST(rdma_disconnect(cm.server));
	rdma_ack_cm_event(event); /* HERE */
	return 0;
}
