/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-unacknowledged; at main; CQ */
/* SHOWS: hangs */
/* A novice believed that an event which was fetched needs no answer. */
#include "zoo.h"

int main(void)
{
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	MUST(ibv_req_notify_cq(near.cq, 0));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	MUST(ibv_get_cq_event(near.channel, &cq, &context)); /* HERE */
	await(cq);
	MUST(ibv_destroy_qp(near.qp));
	may_hang();
	MUST(ibv_destroy_cq(near.cq)); /* HERE: where it waits */
	return 0;
}
