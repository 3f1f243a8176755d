/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice believed that a header of 16 bytes lies before the address that the peer has told. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", there.rkey);
	names("16 bytes");
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, 48), there.memory - 16, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
