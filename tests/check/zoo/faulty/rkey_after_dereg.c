/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-stale; at main; region */
/* SHOWS: remote access error */
/* A novice believed that a peer may go on writing as long as the memory itself is there. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", far.mr->rkey);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	MUST(ibv_dereg_mr(far.mr));
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
