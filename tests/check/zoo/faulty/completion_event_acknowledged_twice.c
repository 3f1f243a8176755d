/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-acknowledged-twice; at main; CQ */
/* SHOWS: hangs */
/* A novice acknowledged an event where it came and where it was handled: twice does no harm. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;
	struct ibv_cq *cq;
	void *context;

	options.has_channel = true;
	pair_open(&options);
	MUST(ibv_req_notify_cq(near.cq, 0));
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	MUST(ibv_get_cq_event(near.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	await(cq);
	ibv_ack_cq_events(cq, 1); /* HERE */
	may_hang();
	pair_close();
	return 0;
}
