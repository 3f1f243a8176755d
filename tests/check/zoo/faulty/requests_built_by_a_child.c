/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: used-by-fork-child; at main; QP */
/* SHOWS: Input/output error|killed by signal|nothing */
/* A novice forked a worker, which builds its requests for the queue pair of the parent. */
#include "zoo.h"

#include <sys/wait.h>

int main(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_send_sge = 1},
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE,
	};
	struct ibv_qp_ex *ex;
	struct ibv_qp *qp;
	int status;

	pair_open(NULL);
	init.send_cq = init.recv_cq = near.cq;
	init.pd = near.pd;
	qp = HAVE(ibv_create_qp_ex(near.context, &init));
	qp_to_init(&near, qp);
	qp_connect(&near, qp, &there);
	names("%#x", qp->qp_num);
	ex = ibv_qp_to_qp_ex(qp);
	if (fork() == 0) {
		ibv_wr_start(ex);
		ibv_wr_rdma_write(ex, there.rkey, there.memory);
		ibv_wr_set_sge(ex, near.mr->lkey, (uintptr_t)near.memory, 64);
		MUST(ibv_wr_complete(ex)); /* HERE */
		exit(0);
	}
	CHECK(wait(&status) > 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
