/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-stale; at main; region */
/* SHOWS: remote access error */
/* A novice believed that a buffer which grows by a new registration keeps its key. */
#include "zoo.h"

static void serve(void)
{
	MUST(ibv_dereg_mr(near.mr));
	near.mr = HAVE(ibv_reg_mr(near.pd, near.memory, SIZE, ACCESS));
	meet();
	hear(&there, sizeof(there));
}

int main(void)
{
	if (!processes_open(NULL)) {
		serve();
		return 0;
	}
	meet();
	names("%#x", there.rkey);
	POST(near, to_peer(IBV_WR_RDMA_READ, 0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
