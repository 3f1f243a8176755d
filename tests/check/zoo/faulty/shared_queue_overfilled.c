/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rq-full; at main; SRQ */
/* SHOWS: Cannot allocate memory */
/* A novice believed that each queue pair adds its own room to a shared queue. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;

	PAIR_OPEN(o.srq_wr = 8);
	sge = piece(&near, 0, 64);
	wr.sg_list = &sge;
	for (int i = 0; i < 1000; i++)
		MUST(ibv_post_srq_recv(near.srq, &wr, &bad)); /* HERE */
	return 0;
}
