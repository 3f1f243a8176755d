/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; QP */
/* SHOWS: nothing */
/* A novice flushed the record and its commit word together: the word may be durable alone. */
#include "durable.h"

int main(void)
{
	struct ibv_send_wr swap;

	pair_open(NULL);
	durable_map();
	names("%#llx", (unsigned long long)durable_addr + PAGE);
	names("512 bytes");
	fill(near.memory, 512, 1);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 512), durable_addr, durable_mr->rkey));
	swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, PAGE, 8), durable_addr + PAGE,
		       durable_mr->rkey);
	swap.wr.atomic.swap = 1;
	COMMIT_WORD(near.qp, durable_addr + PAGE, durable_addr, 512);
	POST(near, swap); /* HERE */
	await(near.cq);
	await(near.cq);
	MUST(msync(durable_memory, 2 * PAGE, MS_SYNC));
	durable_unmap();
	return 0;
}
