/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: wrong-opcode; at main; QP */
/* SHOWS: Invalid argument|local QP operation error */
/* A novice believed that an unreliable connection is a reliable one that may lose messages. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.type = IBV_QPT_UC;
	pair_open(&options);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
