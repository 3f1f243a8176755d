/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: receive-too-small; at main; QP */
/* SHOWS: remote invalid request error */
/* A novice believed that a message longer than the receive is cut, as with recv() of a datagram. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr recv = {.wr_id = 7, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("64");
	names("32");
	sge = piece(&far, 0, 32);
	recv.sg_list = &sge;
	MUST(ibv_post_recv(far.qp, &recv, &bad_recv)); /* HERE */
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_SEND, &sge, 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
