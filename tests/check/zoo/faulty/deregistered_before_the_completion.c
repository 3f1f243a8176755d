/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight; at main; region */
/* SHOWS: nothing|local protection error|local QP operation error|remote access error */
/* A novice believed that a write is done when ibv_post_send() returns. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	POST(near, request(IBV_WR_RDMA_WRITE, keyed_piece(near.memory, 64, mr->lkey), there.memory,
			   there.rkey));
	MUST(ibv_dereg_mr(mr)); /* HERE */
	await(near.cq);
	return 0;
}
