/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-range-beyond; at main; region */
/* SHOWS: local protection error|local QP operation error */
/* A novice registered the length of the text and believed that the header before it is included. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, 100, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	names("116");
	names("16 bytes");
	POST(near, by_key(IBV_WR_RDMA_WRITE, near.memory, 116, mr->lkey)); /* HERE */
	await(near.cq);
	return 0;
}
