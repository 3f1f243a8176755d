/* SPDX-License-Identifier: BSD-3-Clause */
/* A completion queue that holds as many as can be outstanding cannot overrun: full is not over. */
#include "zoo.h"

#define ROUNDS 3
#define DEPTH  16

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.cqe = options.recv_cqe = DEPTH;
	pair_open(&options);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < DEPTH; i++)
			receive(&far, 64 * i, 64);
		fill(near.memory, 64, (unsigned)round);
		wr = request(IBV_WR_SEND, one_piece(&near, 0, 64), 0, 0);
		for (int i = 0; i < DEPTH; i++)
			MUST(ibv_post_send(near.qp, &wr, &bad));
		for (int i = 0; i < DEPTH; i++) {
			await(near.cq);
			await(far.recv_cq);
		}
		CHECK(is_filled(far.memory + 64 * (DEPTH - 1), 64, (unsigned)round));
	}
	pair_close();
	return 0;
}
