/* SPDX-License-Identifier: BSD-3-Clause */
/* A program may end with everything open: the kernel takes it back. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	receive(&far, 0, 64);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return is_filled(far.memory, 64, 1) ? 0 : 1;
}
