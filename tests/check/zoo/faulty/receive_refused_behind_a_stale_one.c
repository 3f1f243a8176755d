/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: dereg-in-flight, rq-full; at post_all; region */
/* SHOWS: remote operation error|remote invalid request error|local protection error */
/* A novice took back the region of receives that wait, and posted one more than there is room for:
 * it is refused, and the others are as they were. */
#include "zoo.h"

static struct ibv_mr *mr;

static void post_all(void)
{
	for (int i = 0; i < 16; i++)
		POST_RECV(far, keyed_piece(far.memory, 64, mr->lkey)); /* HERE */
}

static int post_one_more(void)
{
	struct ibv_recv_wr wr = {.sg_list = one_piece(&far, PAGE, 64), .num_sge = 1}, *bad;

	return ibv_post_recv(far.qp, &wr, &bad);
}

int main(void)
{
	pair_open(NULL);
	mr = HAVE(ibv_reg_mr(far.pd, far.memory, PAGE, ACCESS));
	names("%#x", mr->lkey);
	post_all();
	MUST(ibv_dereg_mr(mr));
	CHECK(post_one_more() == ENOMEM);
	POST(near, a_send(0, 64));
	await(near.cq);
	return 0;
}
