/* SPDX-License-Identifier: BSD-3-Clause */
/* A window of type 2 is bound, used, and invalidated by its owner before it is deallocated. */
#include "zoo.h"

static void on_far(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	MUST(ibv_post_send(far.qp, wr, &bad));
	await(far.cq);
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mw *mw;

	PAIR_OPEN(o.mr_access |= IBV_ACCESS_MW_BIND);
	mw = HAVE(ibv_alloc_mw(far.pd, IBV_MW_TYPE_2));
	for (unsigned i = 0; i < 3; i++) {
		wr = request(IBV_WR_BIND_MW, NULL, 0, 0);
		wr.bind_mw.mw = mw;
		wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
		wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
			.mr = far.mr,
			.addr = there.memory + i * PAGE,
			.length = PAGE,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		};
		on_far(&wr);
		mw->rkey = wr.bind_mw.rkey;
		fill(near.memory, PAGE, i);
		wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), there.memory + i * PAGE,
			     mw->rkey);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		CHECK(is_filled(far.memory + i * PAGE, PAGE, i));
		wr = request(IBV_WR_LOCAL_INV, NULL, 0, 0);
		wr.invalidate_rkey = mw->rkey;
		on_far(&wr);
	}
	MUST(ibv_dealloc_mw(mw));
	pair_close();
	return 0;
}
