/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-range-beyond; at main; region */
/* SHOWS: remote operation error|remote invalid request error|local protection error */
/* A novice gave the second piece of a receive the length of both. The shared queue is of another
 * protection domain than the queue pair, which is right: it is that of the memory. */
#include "zoo.h"

int main(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 2}};
	struct ibv_recv_wr wr = {.wr_id = 7, .num_sge = 2}, *bad;
	struct address here;
	struct ibv_sge sge[2];
	struct ibv_mr *mr;
	struct ibv_pd *pd;

	pair_open(NULL);
	here = end_address(&near);
	pd = HAVE(ibv_alloc_pd(far.context));
	mr = HAVE(ibv_reg_mr(pd, far.memory, PAGE, ACCESS));
	MUST(ibv_destroy_qp(far.qp));
	far.srq = HAVE(ibv_create_srq(pd, &init));
	far.qp = end_make_qp(&far);
	qp_to_init(&far, far.qp);
	there = end_address(&far);
	qp_connect(&far, far.qp, &here);
	qp_to(near.qp, IBV_QPS_RESET);
	qp_to_init(&near, near.qp);
	qp_connect(&near, near.qp, &there);
	sge[0] = (struct ibv_sge){(uintptr_t)far.memory, 64, mr->lkey};
	sge[1] = (struct ibv_sge){(uintptr_t)far.memory + PAGE - 64, 128, mr->lkey};
	names("%p", (void *)(far.memory + PAGE - 64));
	names("64 bytes behind");
	wr.sg_list = sge;
	MUST(ibv_post_srq_recv(far.srq, &wr, &bad)); /* HERE */
	POST(near, a_send(0, 192));
	await(near.cq);
	return 0;
}
