/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes beside the destination of a read are the program's, on the same page or line. */
#include "zoo.h"

int main(void)
{
	volatile unsigned char *beside;
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	fill(far.memory, 64, 1);
	beside = near.memory + 48;
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, 48), there.memory, there.rkey);
	for (unsigned char i = 0; i < 100; i++) {
		*beside = i;
		MUST(ibv_post_send(near.qp, &wr, &bad));
		CHECK(*beside == i);
		*beside = (unsigned char)(i + 1);
		await(near.cq);
		CHECK(*beside == i + 1 && is_filled(near.memory, 48, 1));
	}
	pair_close();
	return 0;
}
