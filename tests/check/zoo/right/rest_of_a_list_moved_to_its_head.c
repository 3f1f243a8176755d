/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue takes a part of a list. What it did not take is moved to the front of the same array,
 * and posted from there, with other wr_ids. */
#include "zoo.h"

#define COUNT 24u

int main(void)
{
	struct ibv_send_wr wr[COUNT], *bad;
	unsigned left = COUNT, taken = 0;

	pair_open(NULL);
	fill(near.memory, 64 * COUNT, 1);
	for (unsigned i = 0; i < COUNT; i++) {
		wr[i] = to_peer(IBV_WR_RDMA_WRITE, 64 * i, 64);
		wr[i].wr.rdma.remote_addr = there.memory + 64 * i;
	}
	while (left > 0) {
		unsigned posted = left;
		int error;

		for (unsigned i = 0; i < left; i++) {
			wr[i].wr_id = i;
			wr[i].next = i + 1 < left ? &wr[i + 1] : NULL;
		}
		error = ibv_post_send(near.qp, wr, &bad);
		CHECK(error == 0 || error == ENOMEM);
		if (error != 0)
			posted = (unsigned)(bad - wr);
		left -= posted;
		memmove(wr, wr + posted, left * sizeof(wr[0]));
		for (; left > 0 && taken < COUNT - left; taken++)
			await(near.cq);
	}
	for (; taken < COUNT; taken++)
		await(near.cq);
	CHECK(is_filled(far.memory, 64 * COUNT, 1));
	pair_close();
	return 0;
}
