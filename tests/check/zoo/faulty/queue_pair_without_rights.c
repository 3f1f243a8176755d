/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; QP */
/* SHOWS: remote invalid request error|remote access error */
/* A novice believed that the rights of the region are all that a peer needs. */
#include "zoo.h"

int main(void)
{
	struct options with = defaults(), without = defaults();

	without.qp_access = 0;
	pair_open_with(&with, &without);
	names("%#x", far.qp->qp_num);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
