/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: commit-word-plain; at main; QP */
/* SHOWS: nothing */
/* A novice believed that an RDMA write of 8 bytes is atomic by the specification. */
#include "durable.h"

int main(void)
{
	struct ibv_send_wr word;

	pair_open(NULL);
	durable_map();
	names("%#llx", (unsigned long long)durable_addr + PAGE);
	fill(near.memory, 8, 1);
	word = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 8), durable_addr + PAGE,
		       durable_mr->rkey);
	COMMIT_WORD(near.qp, durable_addr + PAGE, 0, 0);
	POST(near, word); /* HERE */
	await(near.cq);
	durable_unmap();
	return 0;
}
