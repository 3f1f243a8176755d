/* SPDX-License-Identifier: BSD-3-Clause */
/* A send with invalidate takes the window back that its sender has used. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mw *mw;
	struct ibv_sge sge;

	PAIR_OPEN(o.mr_access |= IBV_ACCESS_MW_BIND);
	mw = HAVE(ibv_alloc_mw(far.pd, IBV_MW_TYPE_2));
	receive(&far, PAGE, 64);
	wr = request(IBV_WR_BIND_MW, NULL, 0, 0);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = far.mr,
		.addr = there.memory,
		.length = PAGE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	MUST(ibv_post_send(far.qp, &wr, &bad));
	await(far.cq);
	there.rkey = wr.bind_mw.rkey;
	fill(near.memory, 64, 3);
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, there.rkey);
	wr.send_flags = 0;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	wr = request(IBV_WR_SEND_WITH_INV, &sge, 0, 0);
	wr.invalidate_rkey = there.rkey;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(await(far.cq).invalidated_rkey == there.rkey);
	CHECK(is_filled(far.memory, 64, 3) && is_filled(far.memory + PAGE, 64, 3));
	MUST(ibv_dealloc_mw(mw));
	pair_close();
	return 0;
}
