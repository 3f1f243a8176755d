/* SPDX-License-Identifier: BSD-3-Clause */
/* A source that is written again with the bytes that it has is not changed: any order is right. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	fill(near.memory, PAGE, 6);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, PAGE));
	fill(near.memory, PAGE, 6);
	await(near.cq);
	CHECK(is_filled(far.memory, PAGE, 6));
	pair_close();
	return 0;
}
