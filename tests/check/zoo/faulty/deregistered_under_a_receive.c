/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight; at main; region */
/* SHOWS: remote operation error|transport retry counter exceeded|nothing */
/* A novice believed that a receive which got no message yet uses no memory yet. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *mr;

	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	POST_RECV(far, keyed_piece(far.memory, 64, mr->lkey));
	MUST(ibv_dereg_mr(mr)); /* HERE */
	POST(near, a_send(0, 64));
	await(near.cq);
	return 0;
}
