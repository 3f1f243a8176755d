/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; region */
/* SHOWS: nothing */
/* A novice believed that what a completion tells of is durable. */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	fill(near.memory, 64, 1);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), durable_addr, durable_mr->rkey));
	await(near.cq);
	DURABLE(durable_memory, 64); /* HERE */
	durable_unmap();
	return 0;
}
