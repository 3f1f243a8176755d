/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: status-unread, rkey-stale, post-after-error; at main; QP */
/* SHOWS: all is well */
/* A novice believed that a completion means success. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	pair_open(NULL);
	MUST(ibv_dereg_mr(far.mr));
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	for (int i = 0; i < 3; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad));  /* HERE */
		while (ibv_poll_cq(near.cq, 1, &wc) == 0) /* HERE */
			;
	}
	show("all is well");
	return 0;
}
