/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-stale; at main; region */
/* SHOWS: local protection error|local QP operation error */
/* A novice kept the key of a buffer in a pool that had deregistered it. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	sge = (struct ibv_sge){(uintptr_t)near.memory, 64, mr->lkey};
	MUST(ibv_dereg_mr(mr));
	POST(near, request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey)); /* HERE */
	await(near.cq);
	return 0;
}
