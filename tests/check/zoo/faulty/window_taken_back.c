/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-stale; at main; window */
/* SHOWS: remote access error|remote operation error */
/* A novice believed that the region behind a window keeps the window's key alive. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mw *mw;

	PAIR_OPEN(o.mr_access |= IBV_ACCESS_MW_BIND);
	mw = HAVE(ibv_alloc_mw(far.pd, IBV_MW_TYPE_2));
	wr = request(IBV_WR_BIND_MW, NULL, 0, 0);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = far.mr,
		.addr = there.memory,
		.length = PAGE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	there.rkey = wr.bind_mw.rkey;
	MUST(ibv_post_send(far.qp, &wr, &bad));
	await(far.cq);
	wr = request(IBV_WR_LOCAL_INV, NULL, 0, 0);
	wr.invalidate_rkey = there.rkey;
	MUST(ibv_post_send(far.qp, &wr, &bad));
	await(far.cq);
	names("%#x", there.rkey);
	wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
