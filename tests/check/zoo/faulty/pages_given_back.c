/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice gave unused pages back to the system, and believed that they come back alike. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", far.mr->rkey);
	MUST(madvise(far.memory, SIZE / 2, MADV_DONTNEED)); /* HERE */
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	await(near.cq);
	return 0;
}
