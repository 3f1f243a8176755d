/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair may be destroyed with receives outstanding and completions that were not taken. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	for (size_t i = 0; i < 8; i++)
		receive(&far, 64 * i, 64);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(far.memory, 64, 1));
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	pair_close();
	return 0;
}
