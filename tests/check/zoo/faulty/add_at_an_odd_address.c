/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: atomic-unaligned; at main; QP */
/* SHOWS: remote invalid request error|remote access error */
/* A novice believed that a counter of 8 bytes may begin at any multiple of 4. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#llx", (unsigned long long)there.memory + 4);
	wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, one_piece(&near, 0, 8), there.memory + 4,
		     there.rkey);
	wr.wr.atomic.compare_add = 1;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
