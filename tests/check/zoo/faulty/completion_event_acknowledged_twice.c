/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-acknowledged-twice; at main; CQ */
/* SHOWS: hangs */
/* A novice acknowledged an event where it came and where it was handled: twice does no harm. */
#include "zoo.h"

int main(void)
{
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	MUST(ibv_req_notify_cq(near.cq, 0));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	MUST(ibv_get_cq_event(near.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	await(cq);
	ibv_ack_cq_events(cq, 1); /* HERE */
	may_hang();
	pair_close();
	return 0;
}
