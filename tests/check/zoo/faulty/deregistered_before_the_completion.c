/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight; at main; region */
/* SHOWS: nothing|local protection error|local QP operation error|remote access error */
/* A novice believed that a write is done when ibv_post_send() returns. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	sge = (struct ibv_sge){(uintptr_t)near.memory, 64, mr->lkey};
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	MUST(ibv_dereg_mr(mr)); /* HERE */
	await(near.cq);
	return 0;
}
