/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-unacknowledged; at take_one; CQ */
/* SHOWS: hangs */
/* A thread acknowledges what was fetched, a little late, which is right; the second event is
 * forgotten, as a novice believed that the thread still runs. */
#include "zoo.h"

#include <pthread.h>

static void *acknowledge_late(void *cq)
{
	usleep(1500000);
	ibv_ack_cq_events(cq, 1);
	return NULL;
}

static void take_one(bool is_acknowledged)
{
	struct ibv_cq *cq;
	pthread_t thread;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	MUST(ibv_req_notify_cq(near.cq, 0));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	MUST(ibv_get_cq_event(near.channel, &cq, &context)); /* HERE */
	await(cq);
	MUST(ibv_destroy_qp(near.qp));
	if (is_acknowledged)
		MUST(pthread_create(&thread, NULL, acknowledge_late, cq));
	else
		may_hang();
	MUST(ibv_destroy_cq(near.cq)); /* HERE: where it waits */
	if (is_acknowledged)
		MUST(pthread_join(thread, NULL));
}

int main(void)
{
	for (int i = 0; i < 2; i++)
		take_one(i == 0);
	return 0;
}
