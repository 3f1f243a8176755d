/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that requests of two queue pairs complete in the order of their posts. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr first, second, *bad;
	struct ibv_qp *other_near, *other_far;
	struct ibv_sge sge[2];
	struct address a, b;
	struct ibv_cq *other_cq, *cq;

	pair_open(NULL);
	a = end_address(&near);
	b = there;
	cq = near.cq;
	other_cq = near.cq = near.recv_cq = HAVE(ibv_create_cq(near.context, 64, NULL, NULL, 0));
	other_near = end_make_qp(&near);
	other_far = end_make_qp(&far);
	a.qp_num = other_near->qp_num;
	b.qp_num = other_far->qp_num;
	qp_to_init(&near, other_near);
	qp_to_init(&far, other_far);
	qp_connect(&near, other_near, &b);
	qp_connect(&far, other_far, &a);
	names("%#x", near.qp->qp_num);
	fill(near.memory, PAGE, 1);
	sge[0] = piece(&near, 0, PAGE);
	sge[1] = piece(&near, PAGE, 8);
	first = request(IBV_WR_RDMA_WRITE, &sge[0], there.memory, there.rkey);
	second = request(IBV_WR_RDMA_WRITE, &sge[1], there.memory + PAGE, there.rkey);
	MUST(ibv_post_send(near.qp, &first, &bad)); /* HERE */
	MUST(ibv_post_send(other_near, &second, &bad));
	await(other_cq);
	memset(near.memory, 0, PAGE); /* HERE */
	await(cq);
	CHECK(is_filled(far.memory, PAGE, 1));
	return 0;
}
