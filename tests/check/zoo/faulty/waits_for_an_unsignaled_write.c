/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: wait-for-nothing; at main; CQ */
/* SHOWS: no completion */
/* A novice believed that every request completes, whatever its flags say. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	pair_open(NULL);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	wr.send_flags = 0;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	if (!next_within(near.cq, &wc, 3000))	 /* HERE */
		show("no completion");
	return 1;
}
