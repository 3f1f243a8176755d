/* SPDX-License-Identifier: BSD-3-Clause */
/* Two connections to one peer: what the first has no room for is posted to the
 * second. */
#include "zoo.h"

#define COUNT 20u

static struct ibv_qp *near_qp[2], *far_qp[2];

static void open_second(void)
{
	struct address here = end_address(&near), second = there;

	near_qp[0] = near.qp;
	far_qp[0] = far.qp;
	near_qp[1] = end_make_qp(&near);
	far_qp[1] = end_make_qp(&far);
	here.qp_num = near_qp[1]->qp_num;
	second.qp_num = far_qp[1]->qp_num;
	qp_to_init(&near, near_qp[1]);
	qp_to_init(&far, far_qp[1]);
	qp_connect(&far, far_qp[1], &here);
	qp_connect(&near, near_qp[1], &second);
}

static struct ibv_send_wr part(unsigned number)
{
	struct ibv_send_wr wr = to_peer(IBV_WR_RDMA_WRITE, 64 * number, 64);

	wr.wr.rdma.remote_addr = there.memory + 64 * number;
	return wr;
}

/* One by one; then a list, of which the rest is moved. rxe may have room for all. */
static void post_one_by_one(void)
{
	struct ibv_send_wr wr, *bad;
	unsigned moved = 0;

	for (unsigned i = 0; i < COUNT; i++) {
		wr = part(i);
		if (ibv_post_send(near_qp[0], &wr, &bad) == 0)
			continue;
		wr.wr_id = 100 + moved++;
		MUST(ibv_post_send(near_qp[1], &wr, &bad));
	}
}

static void post_list(void)
{
	struct ibv_send_wr wr[COUNT], *bad = NULL;

	for (unsigned i = 0; i < COUNT; i++) {
		wr[i] = part(i);
		wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
	}
	if (ibv_post_send(near_qp[0], wr, &bad) != 0)
		MUST(ibv_post_send(near_qp[1], bad, &bad));
}

static void await_all(unsigned seed)
{
	for (unsigned i = 0; i < COUNT; i++)
		await(near.cq);
	CHECK(is_filled(far.memory, 64 * COUNT, seed));
}

static void post_and_await(void (*post)(void), unsigned seed)
{
	PAIR_OPEN(o.cqe = 64);
	open_second();
	fill(near.memory, 64 * COUNT, seed);
	post();
	await_all(seed);
	MUST(ibv_destroy_qp(near_qp[1]));
	MUST(ibv_destroy_qp(far_qp[1]));
	pair_close();
}

int main(void)
{
	post_and_await(post_one_by_one, 1);
	post_and_await(post_list, 2);
	return 0;
}
