/* SPDX-License-Identifier: BSD-3-Clause */
/* Each record is committed by an atomic operation once it is durable. The next one is under way by
 * then, and a write elsewhere is none to the word. */
#include "durable.h"

static void write_record(unsigned i)
{
	fill(near.memory + i * PAGE, 512, i);
	POST(near, request(IBV_WR_RDMA_WRITE_WITH_IMM, one_piece(&near, i * PAGE, 512),
			   durable_addr + (1 + i % 2) * PAGE, durable_mr->rkey));
	await(near.cq);
}

static void commit(unsigned i)
{
	struct ibv_send_wr swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, SIZE - 8, 8),
					  durable_addr, durable_mr->rkey);

	swap.wr.atomic.compare_add = i;
	swap.wr.atomic.swap = i + 1;
	COMMIT_WORD(near.qp, durable_addr, durable_addr + (1 + i % 2) * PAGE, 512);
	POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, i * PAGE, 64), durable_addr + 8,
			   durable_mr->rkey));
	POST(near, swap);
	await(near.cq);
	await(near.cq);
}

int main(void)
{
	uint64_t count;

	pair_open(NULL);
	durable_map();
	for (unsigned i = 0; i < 4; i++)
		receive(&far, 0, 64);
	write_record(0);
	for (unsigned i = 0; i < 4; i++) {
		await(far.cq);
		MUST(msync(durable_memory, DURABLE_BYTES, MS_SYNC));
		if (i + 1 < 4)
			write_record(i + 1);
		commit(i);
	}
	memcpy(&count, durable_memory, sizeof(count));
	CHECK(count == 4);
	durable_unmap();
	pair_close();
	return 0;
}
