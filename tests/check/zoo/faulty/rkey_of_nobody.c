/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-unknown; at main; QP */
/* SHOWS: remote access error */
/* A novice believed that a number which looks like a key would do until the real one is known. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("0x1234567");
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 64, there.memory, 0x1234567)); /* HERE */
	await(near.cq);
	return 0;
}
