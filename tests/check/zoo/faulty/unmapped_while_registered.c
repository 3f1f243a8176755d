/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice believed that memory which is unmapped is deregistered with it. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", far.mr->rkey);
	MUST(munmap(far.memory + PAGE, PAGE)); /* HERE */
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory + PAGE, there.rkey));
	await(near.cq);
	return 0;
}
