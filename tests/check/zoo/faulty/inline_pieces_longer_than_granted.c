/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: inline-too-long; at main; QP */
/* SHOWS: Invalid argument|Cannot allocate memory */
/* A novice believed that each inline piece may have max_inline_data bytes. */
#include "zoo.h"

int main(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_send_sge = 1, .max_inline_data = 64},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct ibv_data_buf data[3];
	struct ibv_qp_ex *ex;
	struct ibv_qp *qp;

	pair_open(NULL);
	init.send_cq = init.recv_cq = near.cq;
	init.pd = near.pd;
	qp = HAVE(ibv_create_qp_ex(near.context, &init));
	qp_to_init(&near, qp);
	qp_connect(&near, qp, &there);
	names("%#x", qp->qp_num);
	names("900");
	for (int i = 0; i < 3; i++)
		data[i] = (struct ibv_data_buf){near.memory, 300};
	ex = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, there.rkey, there.memory);
	ibv_wr_set_inline_data_list(ex, 3, data); /* HERE */
	MUST(ibv_wr_complete(ex));		  /* HERE */
	return 0;
}
