/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: receive-too-small; at main; QP */
/* SHOWS: remote invalid request error */
/* A novice believed that a message longer than the receive is cut, as with recv() of a datagram. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	names("64");
	names("32");
	POST_RECV(far, one_piece(&far, 0, 32)); /* HERE */
	POST(near, a_send(0, 64));		/* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
