/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair in ERR goes through RESET to be connected again: what was outstanding is gone. */
#include "zoo.h"

static void send_one(unsigned seed)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0), *bad;

	receive(&far, 0, 64);
	fill(near.memory, 64, seed);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory, 64, seed));
}

int main(void)
{
	struct address here;

	pair_open(NULL);
	here = end_address(&near);
	for (unsigned i = 0; i < 3; i++) {
		send_one(i);
		receive(&near, 0, 64);
		qp_to(near.qp, IBV_QPS_ERR);
		CHECK(next_wc(near.cq).status == IBV_WC_WR_FLUSH_ERR);
		qp_to(near.qp, IBV_QPS_RESET);
		qp_to(far.qp, IBV_QPS_RESET);
		qp_to_init(&near, near.qp);
		qp_to_init(&far, far.qp);
		qp_connect(&far, far.qp, &here);
		qp_connect(&near, near.qp, &there);
	}
	send_one(9);
	pair_close();
	return 0;
}
