/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at main; QP */
/* SHOWS: Cannot allocate memory|nothing */
/* A novice believed that polling any queue of a connection makes room for its sends. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	PAIR_OPEN(o.recv_cqe = 64);
	names("%#x", near.qp->qp_num);
	wr = a_send(0, 64);
	for (size_t i = 0; i < 40; i++) {
		receive(&far, 64 * i, 64);
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		await(far.recv_cq);
		while (ibv_poll_cq(near.recv_cq, 1, &wc) > 0)
			;
	}
	return 0;
}
