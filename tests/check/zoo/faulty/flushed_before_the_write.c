/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; region */
/* SHOWS: nothing */
/* A novice flushed when the log was opened, and believed that this holds for what comes later. */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	MUST(msync(durable_memory, PAGE, MS_SYNC));
	receive(&far, 0, 64);
	fill(near.memory, 64, 1);
	POST(near, request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 64), durable_addr,
			   durable_mr->rkey));
	await(near.cq);
	await(far.cq);
	DURABLE(durable_memory, 64); /* HERE */
	durable_unmap();
	return 0;
}
