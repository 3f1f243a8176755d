/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-unknown; at main; QP */
/* SHOWS: remote operation error|transport retry counter exceeded|local protection error */
/* A novice believed that a receive, which sends nothing, is not checked against a region. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	names("%#x", far.qp->qp_num);
	POST_RECV(far, keyed_piece(far.memory, 64, 0x7777)); /* HERE */
	POST(near, a_send(0, 64));			     /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
