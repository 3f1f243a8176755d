/* SPDX-License-Identifier: BSD-3-Clause */
/* Many regions, each released before the next is made or all at the end: nothing grows. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *kept[1000], *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	fill(near.memory, 64, 1);
	for (int i = 0; i < 1000; i++)
		kept[i] = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, IBV_ACCESS_LOCAL_WRITE));
	for (int i = 0; i < 500; i++) {
		mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
		sge = (struct ibv_sge){(uintptr_t)near.memory, 64, mr->lkey};
		wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		MUST(ibv_dereg_mr(mr));
	}
	CHECK(is_filled(far.memory, 64, 1));
	for (int i = 0; i < 1000; i++)
		MUST(ibv_dereg_mr(kept[i]));
	pair_close();
	return 0;
}
