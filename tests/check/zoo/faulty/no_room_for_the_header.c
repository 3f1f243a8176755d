/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: receive-too-small; at main; QP */
/* SHOWS: no message */
/* A novice believed that a receive for 64 bytes of data needs 64 bytes, with datagrams too. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	names("64");
	names("40");
	receive(&far, 0, 64);
	wr = datagram(one_piece(&near, 0, 64), end_ah(&near, &far), far.qp->qp_num);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	if (!next_within(far.cq, &wc, 300))
		show("no message");
	return 1;
}
