/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice believed that remote addresses count from the beginning of the region. */
#include "zoo.h"

int main(void)
{
	if (!processes_open(NULL)) {
		meet();
		return 0;
	}
	names("%#x", there.rkey);
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), 128, there.rkey)); /* HERE */
	await(near.cq);
	return 0;
}
