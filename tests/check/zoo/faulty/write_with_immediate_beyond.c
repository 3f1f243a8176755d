/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice believed that only the page which a write begins in is looked at. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *page;

	pair_open(NULL);
	page = HAVE(ibv_reg_mr(far.pd, far.memory, PAGE, ACCESS));
	names("%#x", page->rkey);
	names("4097");
	receive(&far, PAGE, 64);
	wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, PAGE + 1), there.memory,
		     page->rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
