/* SPDX-License-Identifier: BSD-3-Clause */
/* A request posted in ERR is flushed behind all others: its completion tells that they are done. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	pair_open(NULL);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(is_filled(far.memory, 64, 1));
	receive(&near, 0, 64);
	qp_to(near.qp, IBV_QPS_ERR);
	wr.wr_id = 98;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	for (int left = 2; left > 0; left--) {
		wc = next_wc(near.cq);
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
		CHECK(wc.wr_id == 0 || wc.wr_id == 98);
	}
	pair_close();
	return 0;
}
