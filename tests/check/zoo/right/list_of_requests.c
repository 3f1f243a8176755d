/* SPDX-License-Identifier: BSD-3-Clause */
/* A list is posted by one call, and neither its requests nor their pieces are used afterwards. */
#include "zoo.h"

#define COUNT 16u /* all that the queue holds */

static void post_list(void)
{
	struct ibv_send_wr wr[COUNT], *bad;
	struct ibv_sge sge[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		sge[i] = piece(&near, 64 * i, 64);
		wr[i] = request(IBV_WR_RDMA_WRITE, &sge[i], there.memory + 128 * i, there.rkey);
		wr[i].send_flags = i + 1 < COUNT ? 0 : IBV_SEND_SIGNALED;
		wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
	}
	MUST(ibv_post_send(near.qp, wr, &bad));
	memset(wr, 0xff, sizeof(wr));
	memset(sge, 0xff, sizeof(sge));
}

int main(void)
{
	pair_open(NULL);
	for (unsigned round = 0; round < 3; round++) {
		fill(near.memory, 64 * COUNT, round);
		post_list();
		await(near.cq);
		for (unsigned i = 0; i < COUNT; i++)
			CHECK(memcmp(far.memory + 128 * i, near.memory + 64 * i, 64) == 0);
	}
	pair_close();
	return 0;
}
