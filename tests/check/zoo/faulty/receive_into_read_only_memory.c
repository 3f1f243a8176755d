/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-right-missing; at main; LOCAL_WRITE */
/* SHOWS: remote operation error|transport retry counter exceeded */
/* A novice registered without rights, as only its own process uses the memory. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, SIZE, 0));
	names("%#x", mr->lkey);
	POST_RECV(far, keyed_piece(far.memory, 64, mr->lkey)); /* HERE */
	POST(near, a_send(0, 64));			       /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
