/* SPDX-License-Identifier: BSD-3-Clause */
/* Events are counted and acknowledged by one call before the queue is destroyed. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
	for (unsigned i = 0; i < 10; i++) {
		fill(near.memory, 64, i);
		MUST(ibv_req_notify_cq(near.cq, 0));
		MUST(ibv_post_send(near.qp, &wr, &bad));
		MUST(ibv_get_cq_event(near.channel, &cq, &context));
		CHECK(cq == near.cq && context == &near);
		await(cq);
		CHECK(is_filled(far.memory, 64, i));
	}
	ibv_ack_cq_events(near.cq, 10);
	pair_close();
	return 0;
}
