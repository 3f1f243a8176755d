/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice believed that a header of 16 bytes lies before the address that the peer has told. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", there.rkey);
	names("16 bytes");
	POST(near, at_peer(IBV_WR_RDMA_READ, 48, there.memory - 16, there.rkey)); /* HERE */
	await(near.cq);
	return 0;
}
