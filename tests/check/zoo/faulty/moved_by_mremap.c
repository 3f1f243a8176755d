/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice believed that a region follows its memory when the kernel moves it. */
#include "zoo.h"

int main(void)
{
	unsigned char *place;

	pair_open(NULL);
	place = HAVE(mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	names("%#x", far.mr->rkey);
	HAVE(mremap(far.memory, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, place)); /* HERE */
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	await(near.cq);
	return 0;
}
