/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: early-read; at main; QP */
/* SHOWS: nothing|not so */
/* A novice believed that the data are there when the call that reads them returns. */
#include "zoo.h"

int main(void)
{
	volatile unsigned char *result;

	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	fill(far.memory, PAGE, 1);
	result = near.memory;
	POST(near, to_peer(IBV_WR_RDMA_READ, 0, PAGE)); /* HERE */
	CHECK(result[5] == far.memory[5]);		/* HERE */
	await(near.cq);
	return 0;
}
