/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rq-full; at main; QP */
/* SHOWS: Cannot allocate memory */
/* A novice believed that the receive queue grows with what is posted to it. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	sge = piece(&near, 0, 64);
	wr.sg_list = &sge;
	for (int i = 0; i < 1000; i++)
		MUST(ibv_post_recv(near.qp, &wr, &bad)); /* HERE */
	return 0;
}
