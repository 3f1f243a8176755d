/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: not-durable; at main; region */
/* SHOWS: nothing */
/* A novice flushed after the answer that tells the peer that its record is durable. */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	names("%#x", far.qp->qp_num);
	receive(&far, 0, 64);
	receive(&near, SIZE - 64, 64);
	fill(near.memory, 512, 1);
	POST(near, request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 512), durable_addr,
			   durable_mr->rkey));
	await(near.cq);
	await(far.cq);
	POST(far, request(IBV_WR_SEND, one_piece(&far, 0, 8), 0, 0)); /* HERE */
	await(far.cq);
	await(near.cq);
	MUST(msync(durable_memory, PAGE, MS_SYNC));
	durable_unmap();
	return 0;
}
