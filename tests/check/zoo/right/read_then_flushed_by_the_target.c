/* SPDX-License-Identifier: BSD-3-Clause */
/* A read moves what was written into the caches of the target, whose CPU flushes it from there. */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	for (unsigned i = 0; i < 4; i++) {
		fill(near.memory, 512, i);
		POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 512),
				   durable_addr + i * PAGE, durable_mr->rkey));
		POST(near, request(IBV_WR_RDMA_READ, one_piece(&near, PAGE, 8),
				   durable_addr + i * PAGE, durable_mr->rkey));
		await(near.cq);
		await(near.cq);
		MUST(msync(durable_memory + i * PAGE, PAGE, MS_SYNC));
		DURABLE_AT_PEER(near.qp, durable_addr + i * PAGE, 512);
		CHECK(is_filled(durable_memory + i * PAGE, 512, i));
	}
	durable_unmap();
	pair_close();
	return 0;
}
