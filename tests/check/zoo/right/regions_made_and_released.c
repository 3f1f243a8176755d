/* SPDX-License-Identifier: BSD-3-Clause */
/* Many regions, each released before the next is made or all at the end: nothing grows. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *kept[1000], *mr;

	pair_open(NULL);
	fill(near.memory, 64, 1);
	for (int i = 0; i < 1000; i++)
		kept[i] = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, IBV_ACCESS_LOCAL_WRITE));
	for (int i = 0; i < 500; i++) {
		mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
		POST(near, request(IBV_WR_RDMA_WRITE, keyed_piece(near.memory, 64, mr->lkey),
				   there.memory, there.rkey));
		await(near.cq);
		MUST(ibv_dereg_mr(mr));
	}
	CHECK(is_filled(far.memory, 64, 1));
	for (int i = 0; i < 1000; i++)
		MUST(ibv_dereg_mr(kept[i]));
	pair_close();
	return 0;
}
