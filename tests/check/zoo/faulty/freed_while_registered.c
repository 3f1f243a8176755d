/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-freed; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice believed that free() of a large block ends what a peer may do to it. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;
	char *block;

	pair_open(NULL);
	block = HAVE(malloc(1 << 20)); /* large: malloc() maps it */
	mr = HAVE(ibv_reg_mr(far.pd, block, 1 << 20, ACCESS));
	there.memory = (uintptr_t)block;
	names("%#x", mr->rkey);
	free(block); /* HERE */
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory + 8 * PAGE,
			   mr->rkey));
	await(near.cq);
	return 0;
}
