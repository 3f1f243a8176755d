/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a receive, once posted, takes every message. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.rnr_retry = 2;
	options.min_rnr_timer = 1;
	if (!processes_open(&options)) {
		receive(&near, 0, 64);
		meet();
		meet();
		return 0;
	}
	meet();
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
