/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: too-many-sges; at main; QP */
/* SHOWS: Invalid argument|Cannot allocate memory */
/* A novice believed that a receive may be scattered as a send is gathered. */
#include "zoo.h"

int main(void)
{
	struct ibv_recv_wr wr = {.num_sge = 2}, *bad;
	struct ibv_sge sge[2];

	PAIR_OPEN(o.cap.max_send_sge = 2);
	names("%#x", near.qp->qp_num);
	sge[0] = piece(&near, 0, 64);
	sge[1] = piece(&near, 1024, 64);
	wr.sg_list = sge;
	MUST(ibv_post_recv(near.qp, &wr, &bad)); /* HERE */
	return 0;
}
