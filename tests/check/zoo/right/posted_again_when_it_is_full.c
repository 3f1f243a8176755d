/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue is full; the program takes a completion and posts again from *bad_wr on. */
#include "zoo.h"

#define COUNT 100u

int main(void)
{
	struct ibv_send_wr wr[COUNT], *bad, *next = wr;
	struct ibv_sge sge[COUNT];
	unsigned taken = 0;

	pair_open(NULL);
	fill(near.memory, 64 * COUNT, 1);
	for (unsigned i = 0; i < COUNT; i++) {
		sge[i] = piece(&near, 64 * i, 64);
		wr[i] = request(IBV_WR_RDMA_WRITE, &sge[i], there.memory + 64 * i, there.rkey);
		wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
	}
	while (next != NULL) {
		const int error = ibv_post_send(near.qp, next, &bad);

		CHECK(error == 0 || error == ENOMEM);
		next = error == 0 ? NULL : bad;
		if (next != NULL) {
			await(near.cq);
			taken++;
		}
	}
	for (; taken < COUNT; taken++)
		await(near.cq);
	CHECK(is_filled(far.memory, 64 * COUNT, 1));
	pair_close();
	return 0;
}
