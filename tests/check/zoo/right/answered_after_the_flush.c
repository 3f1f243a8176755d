/* SPDX-License-Identifier: BSD-3-Clause */
/* A target flushes what a message tells of before it answers. What is written to it meanwhile, and
 * no message has told of, it does not answer for. */
#include "durable.h"

static void write_record(size_t offset, enum ibv_wr_opcode opcode)
{
	POST(near,
	     request(opcode, one_piece(&near, 0, 512), durable_addr + offset, durable_mr->rkey));
	await(near.cq);
}

int main(void)
{
	pair_open(NULL);
	durable_map();
	for (unsigned i = 0; i < 4; i++) {
		receive(&far, 0, 64);
		receive(&near, SIZE - 64, 64);
		fill(near.memory, 512, i);
		write_record(0, IBV_WR_RDMA_WRITE_WITH_IMM);
		await(far.cq);
		MUST(msync(durable_memory, DURABLE_BYTES, MS_SYNC));
		write_record(PAGE, IBV_WR_RDMA_WRITE);
		POST(far, request(IBV_WR_SEND, one_piece(&far, 0, 8), 0, 0));
		await(far.cq);
		await(near.cq);
		CHECK(is_filled(durable_memory, 512, i));
	}
	durable_unmap();
	pair_close();
	return 0;
}
