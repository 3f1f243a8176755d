/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: memory-unmapped; at main; region */
/* SHOWS: nothing|remote access error */
/* A novice gave unused pages back to the system, and believed that they come back alike. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", far.mr->rkey);
	MUST(madvise(far.memory, SIZE / 2, MADV_DONTNEED)); /* HERE */
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	return 0;
}
