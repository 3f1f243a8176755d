/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: growth; at put; region */
/* SHOWS: nothing */
/* A novice registered where a message is sent, and deregistered only what is sent in one piece. */
#include "zoo.h"

static void put(size_t length, bool is_last)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, near.memory, length, ACCESS)); /* HERE */
	struct ibv_sge sge = {(uintptr_t)near.memory, (uint32_t)length, mr->lkey};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey), *bad;

	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	if (is_last)
		MUST(ibv_dereg_mr(mr));
}

static void put_well(size_t length)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, near.memory, length, ACCESS));
	struct ibv_sge sge = {(uintptr_t)near.memory, (uint32_t)length, mr->lkey};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey), *bad;

	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	MUST(ibv_dereg_mr(mr));
}

int main(void)
{
	pair_open(NULL);
	for (int i = 0; i < 2000; i++) {
		put(64, false);
		put_well(64);
	}
	return 0;
}
