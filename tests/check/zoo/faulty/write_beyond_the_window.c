/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; window */
/* SHOWS: nothing|remote access error */
/* A novice believed that the bounds of a window are those of the region behind it. */
#include "zoo.h"

int main(void)
{
	struct ibv_mw_bind bind = {.wr_id = 3, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_mw *mw;

	PAIR_OPEN(o.mr_access |= IBV_ACCESS_MW_BIND);
	mw = HAVE(ibv_alloc_mw(far.pd, IBV_MW_TYPE_1));
	bind.bind_info = (struct ibv_mw_bind_info){
		.mr = far.mr,
		.addr = there.memory,
		.length = 1024,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	MUST(ibv_bind_mw(far.qp, mw, &bind));
	await(far.cq);
	names("%#x", mw->rkey);
	names("1024");
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 1000, there.memory + 100, mw->rkey)); /* HERE */
	await(near.cq);
	return 0;
}
