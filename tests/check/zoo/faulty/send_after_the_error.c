/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: post-after-error, rkey-unknown; at main; ERR */
/* SHOWS: Work Request Flushed Error */
/* A novice believed that a request which failed has no effect on the next one. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, 0x1234567);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	wc = next_wc(near.cq);
	if (wc.status != IBV_WC_SUCCESS)
		show("once more: %s", ibv_wc_status_str(wc.status));
	wr.wr.rdma.rkey = there.rkey;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
