/* SPDX-License-Identifier: BSD-3-Clause */
/* A source may be read by any number of requests at a time. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	fill(near.memory, PAGE, 8);
	sge = piece(&near, 0, PAGE);
	for (unsigned i = 0; i < 8; i++) {
		wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory + i * PAGE, there.rkey);
		MUST(ibv_post_send(near.qp, &wr, &bad));
	}
	for (unsigned i = 0; i < 8; i++)
		await(near.cq);
	for (unsigned i = 0; i < 8; i++)
		CHECK(is_filled(far.memory + i * PAGE, PAGE, 8));
	pair_close();
	return 0;
}
