/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at main; QP */
/* SHOWS: Cannot allocate memory|nothing */
/* A novice believed that a list counts as one request, as it is posted by one call. */
#include "zoo.h"

#define COUNT 20

int main(void)
{
	struct ibv_send_wr wr[COUNT], *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("16");
	for (int i = 0; i < COUNT; i++) {
		wr[i] = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory,
				there.rkey);
		wr[i].send_flags = i + 1 < COUNT ? 0 : IBV_SEND_SIGNALED;
		wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
	}
	MUST(ibv_post_send(near.qp, wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
