/* SPDX-License-Identifier: BSD-3-Clause */
/* ibv_rereg_mr() changes what a region may be used for; its new keys are those to use. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	int result;

	pair_open(NULL);
	sge = piece(&near, 0, PAGE);
	fill(near.memory, PAGE, 1);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory, far.mr->rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	result = ibv_rereg_mr(far.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			      (int)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	if (result != 0) {
		show("this device cannot change a region");
		return 0;
	}
	wr = request(IBV_WR_RDMA_READ, &sge, there.memory, far.mr->rkey);
	memset(near.memory, 0, PAGE);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	await(near.cq);
	CHECK(is_filled(near.memory, PAGE, 1));
	pair_close();
	return 0;
}
