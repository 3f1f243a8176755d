/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a write with immediate data needs no receive, as it names its place. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.rnr_retry = 0;
	options.min_rnr_timer = 1;
	pair_open(&options);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
