/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: early-read; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that a read takes no longer than five milliseconds. */
#include "zoo.h"

int main(void)
{
	volatile unsigned char *result;
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	fill(far.memory, PAGE, 1);
	result = near.memory;
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	usleep(5000);
	CHECK(result[5] == far.memory[5]); /* HERE */
	await(near.cq);
	return 0;
}
