/* SPDX-License-Identifier: BSD-3-Clause */
/* A request uses the region of its key: another region of the same bytes may go meanwhile. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *other;

	pair_open(NULL);
	fill(near.memory, PAGE, 1);
	for (int i = 0; i < 10; i++) {
		other = HAVE(ibv_reg_mr(near.pd, near.memory, PAGE, IBV_ACCESS_LOCAL_WRITE));
		POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, PAGE));
		MUST(ibv_dereg_mr(other));
		await(near.cq);
	}
	CHECK(is_filled(far.memory, PAGE, 1));
	pair_close();
	return 0;
}
