/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions of sends may lie in their queue for long: they are taken when slots are needed. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc[16];

	PAIR_OPEN(o.recv_cqe = 64);
	wr = a_send(0, 64);
	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < 16; i++) {
			receive(&far, 64 * i, 64);
			MUST(ibv_post_send(near.qp, &wr, &bad));
			await(far.recv_cq);
		}
		for (int taken = 0; taken < 16;) {
			const int count = ibv_poll_cq(near.cq, 16 - taken, wc);

			CHECK(count >= 0);
			for (int i = 0; i < count; i++)
				CHECK(wc[i].status == IBV_WC_SUCCESS);
			taken += count;
		}
	}
	pair_close();
	return 0;
}
