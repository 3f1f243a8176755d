/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-other-pd; at main; region */
/* SHOWS: remote access error */
/* A novice made a domain for each client, and believed that one region serves them all. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *shared;
	struct ibv_pd *first;

	pair_open(NULL);
	first = HAVE(ibv_alloc_pd(far.context));
	shared = HAVE(ibv_reg_mr(first, far.memory, SIZE, ACCESS));
	names("%#x", shared->rkey);
	POST(near, at_peer(IBV_WR_RDMA_READ, 64, there.memory, shared->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
