/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: bad-wr-ignored, sq-full; at main; QP */
/* SHOWS: not so|nothing */
/* A novice believed that what a queue refuses now it takes as soon as there is room. */
#include "zoo.h"

#define COUNT 20u

int main(void)
{
	struct ibv_send_wr wr[COUNT], *bad;
	struct ibv_sge sge[COUNT];
	int posted = 16;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	fill(near.memory, 64 * COUNT, 1);
	for (unsigned i = 0; i < COUNT; i++) {
		sge[i] = piece(&near, 64 * i, 64);
		wr[i] = request(IBV_WR_RDMA_WRITE, &sge[i], there.memory + 64 * i, there.rkey);
		wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
	}
	if (ibv_post_send(near.qp, wr, &bad) == 0) /* HERE */
		posted = COUNT;
	for (int i = 0; i < posted; i++)
		await(near.cq);
	CHECK(is_filled(far.memory, 64 * COUNT, 1));
	return 0;
}
