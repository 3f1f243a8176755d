/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: cq-overrun; at main; CQ */
/* SHOWS: no completion|Cannot allocate memory|Flushed|nothing */
/* A novice believed that a full completion queue holds up the requests until it is polled. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;
	int count = 0;

	PAIR_OPEN(o.cqe = 4, o.cap.max_send_wr = 64);
	names("%d", near.cq->cqe);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64); /* signaled, each */
	for (int i = 0; i < near.cq->cqe + 4; i++)
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	while (next_within(near.cq, &wc, 200) && wc.status == IBV_WC_SUCCESS)
		count++;
	if (count < near.cq->cqe + 4)
		show("no completion after %d", count);
	return 0;
}
