/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at empty; region */
/* SHOWS: nothing|remote access error */
/* A novice emptied a buffer by mapping fresh pages over it, and believed that peers see them. */
#include "zoo.h"

static void empty(unsigned char *page)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

	HAVE(mmap(page, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0)); /* HERE */
}

int main(void)
{
	pair_open(NULL);
	names("%#x", far.mr->rkey);
	empty(far.memory + 2 * PAGE);
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory + 2 * PAGE,
			   there.rkey));
	await(near.cq);
	return 0;
}
