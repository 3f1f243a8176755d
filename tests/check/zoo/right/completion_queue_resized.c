/* SPDX-License-Identifier: BSD-3-Clause */
/* A completion queue grows before more is posted than it held. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	PAIR_OPEN(o.cqe = 4);
	fill(near.memory, 64, 1);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
	for (int i = 0; i < 4; i++)
		MUST(ibv_post_send(near.qp, &wr, &bad));
	MUST(ibv_resize_cq(near.cq, 16));
	for (int i = 0; i < 12; i++)
		MUST(ibv_post_send(near.qp, &wr, &bad));
	for (int i = 0; i < 16; i++)
		await(near.cq);
	CHECK(is_filled(far.memory, 64, 1));
	pair_close();
	return 0;
}
