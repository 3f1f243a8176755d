/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at main; QP */
/* SHOWS: Cannot allocate memory|nothing */
/* A novice believed that a write without a completion leaves the queue once it is done. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("16");
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	wr.send_flags = 0;
	for (int i = 0; i < 100; i++)
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	return 0;
}
