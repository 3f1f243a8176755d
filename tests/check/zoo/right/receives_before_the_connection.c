/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives may be posted in INIT, long before there is a peer. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct address here;

	end_open(&near, NULL);
	end_open(&far, NULL);
	for (size_t i = 0; i < 16; i++) /* all that it holds */
		receive(&far, 64 * i, 64);
	here = end_address(&near);
	there = end_address(&far);
	qp_connect(&far, far.qp, &here);
	qp_connect(&near, near.qp, &there);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	for (size_t i = 0; i < 16; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		CHECK(await(far.cq).wr_id == 64 * i);
		CHECK(is_filled(far.memory + 64 * i, 64, 1));
	}
	pair_close();
	return 0;
}
