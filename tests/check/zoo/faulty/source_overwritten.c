/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that ibv_post_send() has copied the data when it returns. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	fill(near.memory, PAGE, 1);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	memset(near.memory, 0, PAGE);		 /* HERE */
	await(near.cq);
	CHECK(is_filled(far.memory, PAGE, 1));
	return 0;
}
