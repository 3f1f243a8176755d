/* SPDX-License-Identifier: BSD-3-Clause */
/* A fence holds a request until the reads before it have completed: it sends what they brought. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr read, message, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	fill(far.memory, 1024, 3);
	memset(near.memory, 0, 1024);
	receive(&far, PAGE, 1024);
	sge = piece(&near, 0, 1024);
	read = request(IBV_WR_RDMA_READ, &sge, there.memory, there.rkey);
	read.send_flags = 0;
	message = request(IBV_WR_SEND, &sge, 0, 0);
	message.send_flags |= IBV_SEND_FENCE;
	MUST(ibv_post_send(near.qp, &read, &bad));
	MUST(ibv_post_send(near.qp, &message, &bad));
	await(near.cq);
	await(far.cq);
	CHECK(is_filled(near.memory, 1024, 3));
	CHECK(is_filled(far.memory + PAGE, 1024, 3));
	pair_close();
	return 0;
}
