/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-range-beyond; at main; region */
/* SHOWS: remote operation error|transport retry counter exceeded */
/* A novice registered 64 bytes, and believed that a receive may have room for more than that. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, 64, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	POST_RECV(far, keyed_piece(far.memory, 128, mr->lkey)); /* HERE */
	/* it is flushed, and has the same wr_id */
	POST_RECV(far, keyed_piece(far.memory, 64, mr->lkey));
	POST(near, a_send(0, 100)); /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
