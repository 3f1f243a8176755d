/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer may be registered twice, with a key for readers and a key for the one who writes. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *readable;

	pair_open(NULL);
	readable = HAVE(ibv_reg_mr(far.pd, far.memory, SIZE, IBV_ACCESS_REMOTE_READ));
	CHECK(readable->rkey != far.mr->rkey);
	fill(near.memory, PAGE, 9);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory, far.mr->rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, PAGE, PAGE), there.memory, readable->rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(is_filled(near.memory + PAGE, PAGE, 9));
	MUST(ibv_dereg_mr(far.mr)); /* the other one stays */
	far.mr = NULL;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	MUST(ibv_dereg_mr(readable));
	pair_close();
	return 0;
}
