/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a message waits at the receiver until the program asks for it. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.rnr_retry = 1;
	options.min_rnr_timer = 1;
	pair_open(&options);
	names("%#x", near.qp->qp_num);
	names("0 receives");
	names("rnr_retry");
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
