/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: local-range-beyond; at main; region */
/* SHOWS: local protection error|local QP operation error */
/* A novice gathered two pieces and gave the second one the length of both. */
#include "zoo.h"

int main(void)
{
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge[2];

	PAIR_OPEN(o.cap.max_send_sge = 2);
	receive(&far, 0, PAGE);
	sge[0] = piece(&near, 0, 64);
	sge[1] = piece(&near, SIZE - 64, 128);
	names("%#x", sge[1].lkey);
	names("64 bytes");
	wr = request(IBV_WR_SEND, sge, 0, 0);
	wr.num_sge = 2;
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
