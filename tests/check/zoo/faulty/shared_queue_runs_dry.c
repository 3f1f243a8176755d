/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; SRQ */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a shared queue refills itself with the receives that have completed. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	struct ibv_send_wr wr, *bad;

	sender.rnr_retry = 1;
	receiver.min_rnr_timer = 1;
	receiver.srq_wr = 2;
	pair_open_with(&sender, &receiver);
	receive(&far, 0, 64);
	receive(&far, 64, 64);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	for (int i = 0; i < 3; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		await(near.cq);
		await(far.cq);
	}
	return 0;
}
