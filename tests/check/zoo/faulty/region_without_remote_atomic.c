/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; REMOTE_ATOMIC */
/* SHOWS: remote access error */
/* A novice believed that who may read and write may also add. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.mr_access &= ~(unsigned)IBV_ACCESS_REMOTE_ATOMIC;
	pair_open(&options);
	names("%#x", there.rkey);
	wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, one_piece(&near, 0, 8), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
