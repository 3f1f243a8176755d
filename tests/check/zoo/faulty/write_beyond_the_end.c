/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: range-beyond; at main; region */
/* SHOWS: remote access error */
/* A novice believed that the last record may be written whole, as the page behind it is mapped. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	pair_open(NULL);
	names("%#x", there.rkey);
	names("72");
	names("8 bytes");
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 72), there.memory + SIZE - 64,
		     there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
