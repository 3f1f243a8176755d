/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: not so */
/* A novice believed that what was posted long ago has left. It waits for a receive of the peer. */
#include "zoo.h"

int main(void)
{
	struct ibv_wc wc;

	PAIR_OPEN(o.rnr_retry = 7);
	names("%#x", near.qp->qp_num);
	fill(near.memory, 64, 1);
	POST(near, a_send(0, 64)); /* HERE */
	CHECK(!next_within(near.cq, &wc, 100));
	fill(near.memory, 64, 2);
	receive(&far, 0, 64);
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory, 64, 1));
	return 0;
}
