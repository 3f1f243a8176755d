/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: post-in-state; at main; INIT */
/* SHOWS: Invalid argument */
/* A novice believed that requests which are posted early go out as soon as there is a peer. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	end_open(&near, NULL);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	return 0;
}
