/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: event-unacknowledged; at main; CQ */
/* SHOWS: hangs */
/* A novice believed that an event which was fetched needs no answer. */
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
	MUST(ibv_get_cq_event(near.channel, &cq, &context)); /* HERE */
	await(cq);
	MUST(ibv_destroy_qp(near.qp));
	may_hang();
	MUST(ibv_destroy_cq(near.cq)); /* HERE: where it waits */
	return 0;
}
