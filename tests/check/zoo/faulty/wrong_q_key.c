/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: qkey; at main; QP */
/* SHOWS: no message */
/* A novice believed that the Q_Key of a datagram is the sender's own. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	names("0x5678");
	names("%#x", QKEY);
	receive(&far, 0, GRH + 64);
	wr = datagram(one_piece(&near, 0, 64), end_ah(&near, &far), far.qp->qp_num);
	wr.wr.ud.remote_qkey = 0x5678;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	if (!next_within(far.cq, &wc, 300))
		show("no message");
	return 1;
}
