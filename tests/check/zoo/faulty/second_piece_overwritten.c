/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at main; QP */
/* SHOWS: nothing|not so */
/* A novice sent a header and a payload by one request, and filled the payload for the next one. */
#include "zoo.h"

int main(void)
{
	struct ibv_mr *payload;
	struct ibv_sge sge[2];
	struct ibv_send_wr wr, *bad;

	PAIR_OPEN(o.cap.max_send_sge = 2);
	payload = HAVE(ibv_reg_mr(near.pd, near.memory + PAGE, PAGE, ACCESS));
	sge[0] = piece(&near, 0, 64);
	sge[1] = (struct ibv_sge){(uintptr_t)near.memory + PAGE, 512, payload->lkey};
	names("%#x", payload->lkey);
	names("%p", (void *)(near.memory + PAGE));
	wr = request(IBV_WR_RDMA_WRITE, sge, there.memory, there.rkey);
	wr.num_sge = 2;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	fill(near.memory + PAGE, 512, 2);
	await(near.cq);
	CHECK(is_filled(far.memory + 64, 512, 0));
	return 0;
}
