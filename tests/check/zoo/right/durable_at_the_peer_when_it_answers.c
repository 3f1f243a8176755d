/* SPDX-License-Identifier: BSD-3-Clause */
/* The target flushes what a message tells of, and answers; only then is it called durable. What
 * another write brings after that is not meant. */
#include "durable.h"

static void send_empty(const struct end *end)
{
	struct ibv_send_wr wr = request(IBV_WR_SEND, NULL, 0, 0), *bad;

	MUST(ibv_post_send(end->qp, &wr, &bad));
	await(end->cq);
}

int main(void)
{
	struct ibv_sge sge;

	pair_open(NULL);
	durable_map();
	for (unsigned i = 0; i < 4; i++) {
		receive(&far, 0, 64);
		receive(&near, SIZE - 64, 64);
		fill(near.memory, 512, i);
		sge = piece(&near, 0, 512);
		POST(near,
		     request(IBV_WR_RDMA_WRITE_WITH_IMM, &sge, durable_addr, durable_mr->rkey));
		await(near.cq);
		await(far.cq);
		MUST(msync(durable_memory, PAGE, MS_SYNC));
		send_empty(&far);
		await(near.cq);
		DURABLE_AT_PEER(near.qp, durable_addr, 512);
		POST(near, request(IBV_WR_RDMA_WRITE, &sge, durable_addr + PAGE, durable_mr->rkey));
		await(near.cq);
		DURABLE_AT_PEER(near.qp, durable_addr, 512);
		CHECK(is_filled(durable_memory, 512, i));
	}
	durable_unmap();
	pair_close();
	return 0;
}
