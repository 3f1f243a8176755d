/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight; at send_file; region */
/* SHOWS: nothing|local protection error|local QP operation error|remote access error */
/* A novice believed that a completion tells of the unsignaled requests behind it, too. */
#include "zoo.h"

static void send_file(void)
{
	struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge sge = {(uintptr_t)near.memory, 64, mr->lkey};
	struct ibv_send_wr body = request(IBV_WR_RDMA_READ, &sge, there.memory, there.rkey), *bad;

	names("%#x", mr->lkey);
	MUST(ibv_post_send(near.qp, &body, &bad));
	body.send_flags = 0;
	MUST(ibv_post_send(near.qp, &body, &bad));
	await(near.cq);		/* that is the first one */
	MUST(ibv_dereg_mr(mr)); /* HERE */
}

int main(void)
{
	if (!processes_open(NULL)) {
		meet();
		return 0;
	}
	send_file();
	POST(near, to_peer(IBV_WR_RDMA_WRITE, PAGE, 8));
	await(near.cq);
	meet();
	return 0;
}
