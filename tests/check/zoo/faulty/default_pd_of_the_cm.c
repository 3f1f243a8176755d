/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-other-pd; at main; region */
/* SHOWS: remote access error */
/* A novice believed that an id's queue pair is in the domain that the program has allocated. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mine;
	struct ibv_pd *pd;

	cm_open(NULL, NULL, NULL);
	pd = HAVE(ibv_alloc_pd(cm.server->verbs));
	mine = HAVE(ibv_reg_mr(pd, far.memory, PAGE, ACCESS));
	names("%#x", mine->rkey);
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 64, there.memory, mine->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
