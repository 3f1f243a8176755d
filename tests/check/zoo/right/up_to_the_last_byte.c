/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that end with the last byte of both regions stay within them. */
#include "zoo.h"

int main(void)
{
	struct ibv_sge sge;

	pair_open(NULL);
	fill(near.memory, SIZE, 4);
	sge = piece(&near, 0, SIZE);
	POST(near, request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey));
	await(near.cq);
	CHECK(is_filled(far.memory, SIZE, 4));
	sge = piece(&near, SIZE - 1, 1);
	far.memory[SIZE - 1] = 0x77;
	POST(near, request(IBV_WR_RDMA_READ, &sge, there.memory + SIZE - 1, there.rkey));
	await(near.cq);
	CHECK(near.memory[SIZE - 1] == 0x77);
	sge = piece(&near, 0, 8);
	POST(near, request(IBV_WR_ATOMIC_FETCH_AND_ADD, &sge, there.memory + SIZE - 8, there.rkey));
	await(near.cq);
	CHECK(memcmp(near.memory, far.memory + SIZE - 8, 8) == 0);
	pair_close();
	return 0;
}
