/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * committed.c -- writes records, and commits each by an atomic write, which soft-RoCE of Linux 6.1
 * has not: so it is not among the right ones. All of it is posted at once: a write, its flush and
 * the commit; the flush is a read, which is enough where DDIO is off.
 *
 * Usage: rpma-soft --check committed
 */
#include "durable.h"

static void post(enum ibv_wr_opcode opcode, struct ibv_sge *sge, uint64_t addr)
{
	POST(near, request(opcode, sge, addr, durable_mr->rkey)); /* HERE */
}

int main(void)
{
	pair_open(NULL);
	durable_map();
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t record = durable_addr + 64 + i * 512;

		fill(near.memory, 512, (unsigned)i);
		memcpy(near.memory + PAGE, &i, sizeof(i));
		post(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 512), record);
		post(IBV_WR_RDMA_READ, one_piece(&near, 2 * PAGE, 8), record);
		COMMIT_WORD(near.qp, durable_addr, record, 512);
		post(IBV_WR_ATOMIC_WRITE, one_piece(&near, PAGE, 8), durable_addr);
		for (unsigned n = 0; n < 3; n++)
			await(near.cq);
	}
	durable_unmap();
	pair_close();
	return 0;
}
