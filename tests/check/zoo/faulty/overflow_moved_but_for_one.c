/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: sq-full; at main; QP */
/* SHOWS: nothing|not so */
/* A novice has two connections, and what the first has no room for is for the
 * second; but one refusal was taken for the last. */
#include "zoo.h"

#define COUNT 18u

static struct ibv_qp *open_second(void)
{
	struct address here = end_address(&near), second = there;
	struct ibv_qp *near_qp = end_make_qp(&near), *far_qp = end_make_qp(&far);

	here.qp_num = near_qp->qp_num;
	second.qp_num = far_qp->qp_num;
	qp_to_init(&near, near_qp);
	qp_to_init(&far, far_qp);
	qp_connect(&far, far_qp, &here);
	qp_connect(&near, near_qp, &second);
	return near_qp;
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_qp *second;
	unsigned refused = 0;

	PAIR_OPEN(o.cqe = 64);
	second = open_second();
	names("%#x", near.qp->qp_num);
	for (size_t i = 0; i < COUNT; i++) {
		wr = to_peer(IBV_WR_RDMA_WRITE, 64 * i, 64);
		if (ibv_post_send(near.qp, &wr, &bad) != 0 && refused++ == 0) /* HERE */
			MUST(ibv_post_send(second, &wr, &bad));
	}
	for (unsigned i = 0; i + 1 < COUNT; i++)
		await(near.cq);
	return 0;
}
