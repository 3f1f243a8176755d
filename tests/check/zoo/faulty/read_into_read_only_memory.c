/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-right-missing; at main; LOCAL_WRITE */
/* SHOWS: local protection error|local QP operation error|remote access error */
/* A novice believed that a read needs no right to write: it is a read, after all. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, IBV_ACCESS_REMOTE_READ));
	names("%#x", mr->lkey);
	sge = (struct ibv_sge){(uintptr_t)near.memory, 64, mr->lkey};
	wr = request(IBV_WR_RDMA_READ, &sge, there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
