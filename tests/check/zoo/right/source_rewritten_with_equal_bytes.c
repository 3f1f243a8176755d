/* SPDX-License-Identifier: BSD-3-Clause */
/* A source that is written again with the bytes that it has is not changed: any order is right. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	fill(near.memory, PAGE, 6);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	fill(near.memory, PAGE, 6);
	await(near.cq);
	CHECK(is_filled(far.memory, PAGE, 6));
	pair_close();
	return 0;
}
