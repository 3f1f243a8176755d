/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: double-destroy; at main; handle */
/* SHOWS: nothing|double free|corrupt|killed by signal */
/* A novice destroyed an address handle with the message, and with the connection. */
#include "zoo.h"

int main(void)
{
	struct ibv_sge sge;
	struct ibv_ah *ah;

	PAIR_OPEN(o.type = IBV_QPT_UD);
	ah = end_ah(&near, &far);
	names("%p", (void *)ah);
	receive(&far, 0, 64 + GRH);
	sge = piece(&near, 0, 64);
	POST(near, datagram(&sge, ah, far.qp->qp_num));
	await(near.cq);
	await(far.cq);
	ibv_destroy_ah(ah);
	ibv_destroy_ah(ah); /* HERE */
	return 0;
}
