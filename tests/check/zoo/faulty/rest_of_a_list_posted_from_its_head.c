/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: bad-wr-ignored, too-many-sges; at main; QP */
/* SHOWS: posted again */
/* A novice believed that a list of which one request is refused is refused as a whole. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr[4], *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	for (int i = 0; i < 4; i++) {
		wr[i] = request(IBV_WR_ATOMIC_FETCH_AND_ADD, one_piece(&near, 0, 8), there.memory,
				there.rkey);
		wr[i].wr.atomic.compare_add = 1;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	wr[2].num_sge = 1000;
	if (ibv_post_send(near.qp, wr, &bad) != 0) { /* HERE */
		show("posted again");
		wr[2].num_sge = 1;
		MUST(ibv_post_send(near.qp, wr, &bad)); /* HERE: the first two are done twice */
	}
	for (int i = 0; i < 6; i++)
		await(near.cq);
	return 0;
}
