/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; REMOTE_WRITE */
/* SHOWS: remote access error */
/* A novice believed that memory which the owner may write to is open to writes of its peers. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, SIZE,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	names("%#x", mr->rkey);
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 64, there.memory, mr->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
