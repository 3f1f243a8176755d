/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-for-rkey; at main; key */
/* SHOWS: remote access error */
/* A novice believed that a write names the own region twice: by lkey here and as rkey there. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_mr *mr = NULL;

	if (!processes_open(NULL)) {
		meet();
		return 0;
	}
	for (unsigned i = 0; i < 5; i++) /* so that it is not also a key of the peer */
		mr = HAVE(
			ibv_reg_mr(near.pd, near.memory + i * PAGE, PAGE, IBV_ACCESS_LOCAL_WRITE));
	names("%#x", mr->lkey);
	wr = request(IBV_WR_RDMA_WRITE, keyed_piece(mr->addr, 64, mr->lkey), there.memory,
		     mr->lkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
