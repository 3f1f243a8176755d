/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at commit; region */
/* SHOWS: nothing */
/* A novice flushed the record, and believed that the commit word a page away is included. */
#include "durable.h"

static void put(size_t offset, size_t length)
{
	receive(&far, 0, 64);
	POST(near, request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, length),
			   durable_addr + offset, durable_mr->rkey));
	await(near.cq);
	await(far.cq);
}

static void commit(void)
{
	MUST(msync(durable_memory + PAGE, PAGE, MS_SYNC));
	DURABLE(durable_memory + PAGE, 512);
	DURABLE(durable_memory, 8); /* HERE */
}

int main(void)
{
	pair_open(NULL);
	durable_map();
	fill(near.memory, PAGE, 1);
	put(PAGE, 512);
	put(0, 8);
	commit();
	durable_unmap();
	return 0;
}
