/* SPDX-License-Identifier: BSD-3-Clause */
/* The completion of a request tells that all before it on its queue are done: buffers are free. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE));
	fill(near.memory, PAGE, 1);
	fill(far.memory + PAGE, PAGE, 2);
	sge = (struct ibv_sge){(uintptr_t)near.memory, PAGE, mr->lkey};
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	wr.send_flags = 0;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	sge = (struct ibv_sge){(uintptr_t)near.memory + PAGE, PAGE, mr->lkey};
	wr = request(IBV_WR_RDMA_READ, &sge, there.memory + PAGE, there.rkey);
	wr.send_flags = 0;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	sge = piece(&near, 3 * PAGE, 8);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory + 3 * PAGE, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(is_filled(near.memory + PAGE, PAGE, 2));
	MUST(ibv_dereg_mr(mr));
	memset(near.memory, 0, 2 * PAGE);
	CHECK(is_filled(far.memory, PAGE, 1));
	pair_close();
	return 0;
}
