/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-unknown; at main; QP */
/* SHOWS: local protection error|local QP operation error */
/* A novice believed that a short message needs no registered memory. */
#include "zoo.h"

int main(void)
{
	char text[] = "hello";
	struct ibv_sge sge = {(uintptr_t)text, sizeof(text), 0};
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, 0, 0), *bad;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	receive(&far, 0, 64);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
