/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: cq-overrun; at main; CQ */
/* SHOWS: remote operation error|transport retry counter exceeded|RNR|nothing|Flushed */
/* A novice sized a completion queue for the sends, and believed that receives need none. */
#include "zoo.h"

int main(void)
{
	struct options sender = defaults(), receiver = defaults();
	struct ibv_send_wr wr, *bad;

	receiver.recv_cqe = 2;
	receiver.cap.max_recv_wr = 64;
	pair_open_with(&sender, &receiver);
	names("%d", far.recv_cq->cqe);
	wr = request(IBV_WR_SEND, one_piece(&near, 0, 8), 0, 0);
	for (int i = 0; i < far.recv_cq->cqe + 2; i++) {
		receive(&far, 8 * (size_t)i, 8);
		MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
		await(near.cq);
	}
	return 0;
}
