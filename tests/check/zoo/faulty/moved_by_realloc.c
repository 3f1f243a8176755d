/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-freed; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice believed that a region moves with realloc(). */
#include "zoo.h"

int main(void)
{
	char *block, *grown, *between;
	struct ibv_mr *mr;
	uint64_t addr;

	pair_open(NULL);
	block = HAVE(malloc(8 * PAGE));
	addr = (uintptr_t)block;
	between = HAVE(malloc(64)); /* so that it cannot grow where it is */
	mr = HAVE(ibv_reg_mr(far.pd, block, 8 * PAGE, ACCESS));
	names("%#x", mr->rkey);
	grown = HAVE(realloc(block, 32 * PAGE)); /* HERE */
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), addr + 2 * PAGE, mr->rkey));
	await(near.cq);
	_exit(grown == between); /* the heap is damaged */
}
