/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: too-many-sges; at main; QP */
/* SHOWS: Invalid argument|Cannot allocate memory|nothing */
/* A novice believed that max_send_sge is about the device, and that every queue pair can gather. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge[2];

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	sge[0] = piece(&near, 0, 64);
	sge[1] = piece(&near, 1024, 64);
	wr = request(IBV_WR_RDMA_WRITE, sge, there.memory, there.rkey);
	wr.num_sge = 2;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
