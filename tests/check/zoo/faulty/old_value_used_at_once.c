/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: early-read; at ticket; QP */
/* SHOWS: nothing|not so */
/* A novice believed that an atomic operation is like one of the processor: done when it returns. */
#include "zoo.h"

static uint64_t ticket(void)
{
	volatile uint64_t *old = (uint64_t *)near.memory;
	struct ibv_send_wr wr, *bad;

	wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, one_piece(&near, 0, 8), there.memory, there.rkey);
	wr.wr.atomic.compare_add = 1;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	return *old;				 /* HERE */
}

int main(void)
{
	const uint64_t first = 41;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	memcpy(far.memory, &first, sizeof(first));
	CHECK(ticket() == 41);
	await(near.cq);
	return 0;
}
