/* SPDX-License-Identifier: BSD-3-Clause */
/* A message tells of the write, the target flushes the range, and only then is it called durable.
 */
#include "durable.h"

int main(void)
{
	pair_open(NULL);
	durable_map();
	for (unsigned i = 0; i < 4; i++) {
		receive(&far, 0, 64);
		fill(near.memory, 512, i);
		POST(near, request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, 0, 512),
				   durable_addr + i * PAGE, durable_mr->rkey));
		await(near.cq);
		await(far.cq);
		MUST(msync(durable_memory + i * PAGE, PAGE, MS_SYNC));
		DURABLE(durable_memory + i * PAGE, 512);
		CHECK(is_filled(durable_memory + i * PAGE, 512, i));
	}
	durable_unmap();
	pair_close();
	return 0;
}
