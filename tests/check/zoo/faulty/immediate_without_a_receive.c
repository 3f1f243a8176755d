/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a write with immediate data needs no receive, as it names its place. */
#include "zoo.h"

int main(void)
{
	PAIR_OPEN(o.rnr_retry = 0, o.min_rnr_timer = 1);
	names("%#x", near.qp->qp_num);
	POST(near, to_peer(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
