/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: wrong-opcode; at main; QP */
/* SHOWS: Invalid argument|local QP operation error */
/* A novice believed that an unreliable connection is a reliable one that may lose messages. */
#include "zoo.h"

int main(void)
{
	PAIR_OPEN(o.type = IBV_QPT_UC);
	names("%#x", near.qp->qp_num);
	POST(near, to_peer(IBV_WR_RDMA_READ, 0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
