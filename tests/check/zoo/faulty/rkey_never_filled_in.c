/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-unknown; at main; QP */
/* SHOWS: remote access error */
/* A novice believed that the address alone selects the memory that is read. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	sge = piece(&near, 0, 64);
	wr = (struct ibv_send_wr){.wr_id = 5,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_READ,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma.remote_addr = there.memory};
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
