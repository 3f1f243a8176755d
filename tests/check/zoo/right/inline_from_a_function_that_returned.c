/* SPDX-License-Identifier: BSD-3-Clause */
/* A local variable may be posted inline: it was copied when the function returns. */
#include "zoo.h"

#define BYTES 48u

static void post_record(unsigned i)
{
	unsigned char record[BYTES];
	struct ibv_sge sge = {(uintptr_t)record, BYTES, 0};
	struct ibv_send_wr wr =
		request(IBV_WR_RDMA_WRITE, &sge, there.memory + i * BYTES, there.rkey);
	struct ibv_send_wr *bad;

	fill(record, BYTES, i);
	wr.send_flags |= IBV_SEND_INLINE;
	MUST(ibv_post_send(near.qp, &wr, &bad));
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
	PAIR_OPEN(o.cap.max_inline_data = BYTES);
	for (unsigned i = 0; i < 8; i++) {
		post_record(i);
		work_on();
	}
	for (unsigned i = 0; i < 8; i++)
		await(near.cq);
	for (unsigned i = 0; i < 8; i++)
		CHECK(is_filled(far.memory + i * BYTES, BYTES, i));
	pair_close();
	return 0;
}
