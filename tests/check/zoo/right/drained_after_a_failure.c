/* SPDX-License-Identifier: BSD-3-Clause */
/* The peer is not there: a write fails. The program moves its queue pair to ERR, and finds the end
 * of what is flushed by a last request. It does the same after RESET, when all has gone well. */
#include "zoo.h"

static void drain(void)
{
	struct ibv_send_wr wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64), *bad;
	struct ibv_wc wc;

	qp_to(near.qp, IBV_QPS_ERR);
	wr.wr_id = 98;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	do
		wc = next_wc(near.cq);
	while (wc.wr_id != 98);
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
}

int main(void)
{
	struct address here;

	pair_open(NULL);
	here = end_address(&near);
	qp_to(far.qp, IBV_QPS_RESET);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	CHECK(next_wc(near.cq).status == IBV_WC_RETRY_EXC_ERR);
	drain();
	for (unsigned i = 0; i < 2; i++) {
		qp_to(near.qp, IBV_QPS_RESET);
		qp_to(far.qp, IBV_QPS_RESET);
		qp_to_init(&near, near.qp);
		qp_to_init(&far, far.qp);
		qp_connect(&far, far.qp, &here);
		qp_connect(&near, near.qp, &there);
		fill(near.memory, 64, i);
		POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
		await(near.cq);
		CHECK(is_filled(far.memory, 64, i));
		drain();
	}
	pair_close();
	return 0;
}
