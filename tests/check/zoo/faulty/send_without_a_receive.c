/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rnr; at main; QP */
/* SHOWS: RNR retry counter exceeded */
/* A novice believed that a message waits at the receiver until the program asks for it. */
#include "zoo.h"

int main(void)
{
	PAIR_OPEN(o.rnr_retry = 1, o.min_rnr_timer = 1);
	names("%#x", near.qp->qp_num);
	names("0 receives");
	names("rnr_retry");
	POST(near, a_send(0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
