/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: commit-word-torn; at main; QP */
/* SHOWS: nothing */
/* A novice wrote a record with its commit word at the end, and believed that the end comes last. */
#include "durable.h"

#define BYTES 512u

int main(void)
{
	struct ibv_send_wr record;

	pair_open(NULL);
	durable_map();
	names("%#llx", (unsigned long long)durable_addr + BYTES - 8);
	names("512 bytes");
	fill(near.memory, BYTES, 1);
	record = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, BYTES), durable_addr,
			 durable_mr->rkey);
	COMMIT_WORD(near.qp, durable_addr + BYTES - 8, 0, 0);
	POST(near, record); /* HERE */
	await(near.cq);
	durable_unmap();
	return 0;
}
