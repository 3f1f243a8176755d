/* SPDX-License-Identifier: BSD-3-Clause */
/* ENOMEM tells that a receive queue is full: all of its receives are there, and none is missing. */
#include "zoo.h"

static unsigned filled(void)
{
	struct ibv_recv_wr wr = {.sg_list = one_piece(&far, PAGE, 64), .num_sge = 1}, *bad;
	unsigned count = 0;
	int error;

	while ((error = far.srq != NULL ? ibv_post_srq_recv(far.srq, &wr, &bad)
					: ibv_post_recv(far.qp, &wr, &bad)) == 0)
		count++;
	CHECK(error == ENOMEM);
	return count;
}

static void fill_and_use(uint32_t srq_wr)
{
	unsigned left;

	PAIR_OPEN(o.srq_wr = srq_wr, o.recv_cqe = 64);
	fill(near.memory, 64, 1);
	for (left = filled(); left > 0; left--) {
		POST(near, a_send(0, 64));
		await(near.cq);
		await(far.recv_cq);
	}
	CHECK(is_filled(far.memory + PAGE, 64, 1));
	pair_close();
}

int main(void)
{
	fill_and_use(0);
	fill_and_use(8);
	return 0;
}
