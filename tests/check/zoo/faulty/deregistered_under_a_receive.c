/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight; at main; region */
/* SHOWS: remote operation error|transport retry counter exceeded|nothing */
/* A novice believed that a receive which got no message yet uses no memory yet. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr recv = {.wr_id = 7, .num_sge = 1}, *bad_recv;
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr;
	struct ibv_sge sge;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	sge = (struct ibv_sge){(uintptr_t)far.memory, 64, mr->lkey};
	recv.sg_list = &sge;
	MUST(ibv_post_recv(far.qp, &recv, &bad_recv));
	MUST(ibv_dereg_mr(mr)); /* HERE */
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_SEND, &sge, 0, 0);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return 0;
}
