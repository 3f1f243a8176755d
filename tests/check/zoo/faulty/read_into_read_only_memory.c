/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-right-missing; at main; LOCAL_WRITE */
/* SHOWS: local protection error|local QP operation error|remote access error */
/* A novice believed that a read needs no right to write: it is a read, after all. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, IBV_ACCESS_REMOTE_READ));
	names("%#x", mr->lkey);
	POST(near, by_key(IBV_WR_RDMA_READ, near.memory, 64, mr->lkey)); /* HERE */
	await(near.cq);
	return 0;
}
