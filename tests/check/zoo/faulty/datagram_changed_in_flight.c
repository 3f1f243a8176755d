/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that a datagram, which is not acknowledged, has left when the call returns. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	names("%#x", near.qp->qp_num);
	receive(&far, 0, GRH + 512);
	fill(near.memory, 512, 1);
	wr = datagram(one_piece(&near, 0, 512), end_ah(&near, &far), far.qp->qp_num);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	fill(near.memory, 512, 2);		 /* HERE */
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory + GRH, 512, 1));
	return 0;
}
