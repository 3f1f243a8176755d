/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: source-changed; at post_record; QP */
/* SHOWS: nothing|not so */
/* A novice posted from a local variable, and believed that it lasts as long as the request. */
#include "zoo.h"

#define BYTES 256u

static void post_record(void)
{
	unsigned char record[BYTES];
	const struct ibv_mr *mr = HAVE(ibv_reg_mr(near.pd, record, BYTES, 0));

	fill(record, BYTES, 1);
	POST(near, by_key(IBV_WR_RDMA_WRITE, record, BYTES, mr->lkey)); /* HERE */
}

/* It gets the stack that post_record() had. */
static void work_on(void)
{
	volatile unsigned char scratch[8 * BYTES];

	for (unsigned i = 0; i < sizeof(scratch); i++)
		scratch[i] = 0;
}

int main(void)
{
	pair_open(NULL);
	names("%#x", near.qp->qp_num);
	post_record();
	work_on();
	await(near.cq);
	CHECK(is_filled(far.memory, BYTES, 1));
	return 0;
}
