/* SPDX-License-Identifier: BSD-3-Clause */
/* A server announces the commit word of each record that it may write, and writes one in many; the
 * rest do not fill its memory. A mark may name no data, or an address that nothing has. */
#include <malloc.h>

#include "durable.h"

#define MARKS 2000u

static void mark(void)
{
	for (uint64_t i = 0; i < MARKS; i++)
		COMMIT_WORD(near.qp, durable_addr + PAGE + i % 512 * 8, durable_addr, 64);
	COMMIT_WORD(near.qp, durable_addr, 0, 0);
	COMMIT_WORD(near.qp, UINT64_MAX - 7, UINT64_MAX - 7, SIZE_MAX);
}

static void commit(unsigned i)
{
	struct ibv_send_wr swap = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, SIZE - 8, 8),
					  durable_addr, durable_mr->rkey);

	swap.wr.atomic.compare_add = i;
	swap.wr.atomic.swap = i + 1;
	mark();
	POST(near, swap);
	await(near.cq);
}

int main(void)
{
	size_t before;

	pair_open(NULL);
	durable_map();
	commit(0);
	before = mallinfo2().uordblks;
	for (unsigned i = 1; i < 10; i++)
		commit(i);
	CHECK(mallinfo2().uordblks < before + 65536);
	durable_unmap();
	pair_close();
	return 0;
}
