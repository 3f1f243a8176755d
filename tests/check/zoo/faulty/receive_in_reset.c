/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: post-in-state; at main; RESET */
/* SHOWS: Invalid argument */
/* A novice believed that a new queue pair takes receives at once. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;
	struct ibv_qp *qp;

	end_open(&near, NULL);
	qp = end_make_qp(&near);
	names("%#x", qp->qp_num);
	sge = piece(&near, 0, 64);
	wr.sg_list = &sge;
	MUST(ibv_post_recv(qp, &wr, &bad)); /* HERE */
	return 0;
}
