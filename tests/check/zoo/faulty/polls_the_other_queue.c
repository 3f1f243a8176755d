/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at main; QP */
/* SHOWS: Cannot allocate memory|nothing */
/* A novice believed that polling any queue of a connection makes room for its sends. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	options.recv_cqe = 64;
	pair_open(&options);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	for (size_t i = 0; i < 40; i++) {
		receive(&far, 64 * i, 64);
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		await(far.recv_cq);
		while (ibv_poll_cq(near.recv_cq, 1, &wc) > 0)
			;
	}
	return 0;
}
