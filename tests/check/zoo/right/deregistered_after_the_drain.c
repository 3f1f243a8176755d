/* SPDX-License-Identifier: BSD-3-Clause */
/* In ERR all requests are flushed: when their completions were taken, memory may be deregistered.
 */
#include "zoo.h"

int main(void)
{
	struct ibv_wc wc;
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	for (size_t i = 0; i < 4; i++) {
		struct ibv_sge sge = {(uintptr_t)near.memory + 64 * i, 64, mr->lkey};
		struct ibv_recv_wr recv = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

		MUST(ibv_post_recv(near.qp, &recv, &bad));
	}
	qp_to(near.qp, IBV_QPS_ERR);
	for (size_t i = 0; i < 4; i++) {
		wc = next_wc(near.cq);
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == i);
	}
	MUST(ibv_dereg_mr(mr));
	memset(near.memory, 0, PAGE);
	pair_close();
	return 0;
}
