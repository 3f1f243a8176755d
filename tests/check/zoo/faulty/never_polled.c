/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: cq-never-polled; at main; CQ */
/* SHOWS: nothing */
/* A novice looked for the data itself, and believed that completions go away by themselves. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	volatile unsigned char *last;
	struct ibv_send_wr wr, *bad;

	receiver.recv_cqe = 64;
	pair_open_with(&sender, &receiver); /* HERE */
	fill(near.memory, SIZE, 1);
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 64), there.memory, there.rkey);
	for (int i = 0; i < 16; i++) {
		receive(&far, PAGE, 8);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
	}
	last = far.memory + 63;
	CHECK(*last == near.memory[63]);
	pair_close();
	return 0;
}
