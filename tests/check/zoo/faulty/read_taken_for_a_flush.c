/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; QP */
/* SHOWS: nothing */
/* A novice believed that a read after a write makes it durable: with DDIO it is in the caches. */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	names("%#x", near.qp->qp_num);
	names("visible only");
	fill(near.memory, 200, 1);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 200), durable_addr, durable_mr->rkey));
	await(near.cq);
	POST(near,
	     request(IBV_WR_RDMA_READ, one_piece(&near, PAGE, 8), durable_addr, durable_mr->rkey));
	await(near.cq);
	DURABLE_AT_PEER(near.qp, durable_addr, 200); /* HERE */
	durable_unmap();
	return 0;
}
