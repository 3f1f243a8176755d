/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-range-beyond; at main; region */
/* SHOWS: local protection error|local QP operation error */
/* A novice registered the length of the text and believed that the header before it is included. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, 100, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	names("116");
	names("16 bytes");
	sge = (struct ibv_sge){(uintptr_t)near.memory, 116, mr->lkey};
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
