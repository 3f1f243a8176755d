/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: early-read; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that the sender's completion lets the receiver look. */
#include "zoo.h"

int main(void)
{
	volatile unsigned char *message;

	pair_open(NULL);
	names("%#x", far.qp->qp_num);
	receive(&far, 0, 64); /* HERE */
	message = far.memory;
	fill(near.memory, 64, 1);
	POST(near, a_send(0, 64));
	CHECK(message[7] == near.memory[7]); /* HERE */
	await(near.cq);
	await(far.cq);
	return 0;
}
