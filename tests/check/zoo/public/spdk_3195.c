/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at answer; QP */
/* SHOWS: Cannot allocate memory|nothing */
/*
 * From a storage target (spdk/spdk issue 3195): an answer is a write of the data, unsignaled, and
 * a signaled send behind it. The target counts answers, and believes that each is one request: with
 * 16 slots it has room for 8.
 */
#include "zoo.h"

#define DEPTH 16u

static void answer(size_t slot)
{
	struct ibv_sge data = piece(&near, 512 * slot, 512), status = piece(&near, SIZE - 64, 16);
	struct ibv_send_wr write =
		request(IBV_WR_RDMA_WRITE, &data, there.memory + 512 * slot, there.rkey);
	struct ibv_send_wr done = request(IBV_WR_SEND, &status, 0, 0), *bad;

	write.send_flags = 0;
	write.next = &done;
	MUST(ibv_post_send(near.qp, &write, &bad)); /* HERE */
}

int main(void)
{
	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("16");
	for (size_t slot = 0; slot < DEPTH; slot++)
		receive(&far, SIZE - 64 * (slot + 1), 64);
	for (size_t slot = 0; slot < DEPTH; slot++)
		answer(slot);
	for (size_t slot = 0; slot < DEPTH; slot++)
		await(near.cq);
	return 0;
}
