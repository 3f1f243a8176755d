/* SPDX-License-Identifier: BSD-3-Clause */
/* A datagram without a receive is lost: neither end made a mistake, and the sender cannot know. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;
	struct ibv_ah *ah;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	ah = end_ah(&near, &far);
	wr = datagram(one_piece(&near, 0, 64), ah, far.qp->qp_num);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(!next_within(far.cq, &wc, 100));
	receive(&far, 0, GRH + 64);
	fill(near.memory, 64, 2);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* the program's own protocol sends it again */
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory + GRH, 64, 2));
	MUST(ibv_destroy_ah(ah));
	pair_close();
	return 0;
}
