/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: inline-too-long; at main; QP */
/* SHOWS: Invalid argument|Cannot allocate memory */
/* A novice believed that inline data may be as long as a device can take. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;

	PAIR_OPEN(o.cap.max_inline_data = 64);
	receive(&far, 0, PAGE);
	names("%#x", near.qp->qp_num);
	names("800");
	wr = a_send(0, 800);
	wr.send_flags |= IBV_SEND_INLINE;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
