/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-unknown; at main; QP */
/* SHOWS: remote access error */
/* A novice believed that a number which looks like a key would do until the real one is known. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("0x1234567");
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, 0x1234567);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
