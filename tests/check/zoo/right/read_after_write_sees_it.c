/* SPDX-License-Identifier: BSD-3-Clause */
/* A read sees the writes that were posted before it on its queue pair. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr write, read, *bad;
	struct ibv_sge from, to;

	pair_open(NULL);
	fill(near.memory, PAGE, 5);
	from = piece(&near, 0, PAGE);
	to = piece(&near, PAGE, PAGE);
	write = request(IBV_WR_RDMA_WRITE, &from, there.memory, there.rkey);
	write.send_flags = 0;
	read = request(IBV_WR_RDMA_READ, &to, there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &write, &bad));
	MUST(ibv_post_send(near.qp, &read, &bad));
	await(near.cq);
	CHECK(is_filled(near.memory + PAGE, PAGE, 5));
	pair_close();
	return 0;
}
