/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: status-unread, range-beyond, post-after-error; at main; QP */
/* SHOWS: 8 answers */
/*
 * From a network block store (ydb-platform/nbs issue 5729): completions are matched by wr_id and
 * counted, and no status is looked at. The third request is refused by the peer, and what follows
 * is flushed; the program counts eight answers.
 */
#include "zoo.h"

#define COUNT 8u

int main(void)
{
	struct ibv_send_wr wr, *bad;
	unsigned answers = 0;
	struct ibv_wc wc;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	for (unsigned i = 0; i < COUNT; i++) {
		wr = request(IBV_WR_RDMA_READ, one_piece(&near, 64 * i, 64), there.memory + 64 * i,
			     there.rkey);
		wr.wr_id = i;
		if (i == 2)
			wr.wr.rdma.remote_addr = there.memory + SIZE - 60;
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	}
	while (answers < COUNT)
		if (ibv_poll_cq(near.cq, 1, &wc) == 1 && wc.wr_id < COUNT) /* HERE */
			answers++;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	show("%u answers", answers);
	return 0;
}
