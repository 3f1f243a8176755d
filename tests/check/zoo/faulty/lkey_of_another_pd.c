/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-other-pd; at main; region */
/* SHOWS: local protection error|local QP operation error */
/* A novice believed that all queue pairs of a process can send from all of its regions. */
#include "zoo.h"

int main(void)
{
	struct ibv_pd *first;
	struct ibv_mr *mr;

	pair_open(NULL);
	first = HAVE(ibv_alloc_pd(near.context));
	mr = HAVE(ibv_reg_mr(first, near.memory, SIZE, ACCESS));
	names("%#x", mr->lkey);
	POST(near, by_key(IBV_WR_RDMA_WRITE, near.memory, 64, mr->lkey)); /* HERE */
	await(near.cq);
	return 0;
}
