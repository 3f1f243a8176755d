/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-unknown; at main; QP */
/* SHOWS: remote operation error|transport retry counter exceeded|local protection error */
/* A novice believed that a receive, which sends nothing, is not checked against a region. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr recv = {.wr_id = 7, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	names("%#x", far.qp->qp_num);
	sge = (struct ibv_sge){(uintptr_t)far.memory, 64, 0x7777};
	recv.sg_list = &sge;
	MUST(ibv_post_recv(far.qp, &recv, &bad_recv)); /* HERE */
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_SEND, &sge, 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
