/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last byte of a write is polled, and what lies before it is taken for written: no order is
 * promised among the bytes of a write. Ends with 1 when a record is not whole.
 */
#include "zoo.h"

#define RECORD 4096u
#define COUNT  50u

static void serve(void)
{
	volatile unsigned char *last = near.memory + RECORD - 1;
	unsigned char wanted[RECORD];
	struct ibv_wc wc;

	for (unsigned i = 1; i <= COUNT; i++) {
		memset(wanted, (int)i, sizeof(wanted));
		while (*last != i)
			if (ibv_poll_cq(near.cq, 1, &wc) != 0)
				exit(4);
		if (memcmp(near.memory, wanted, sizeof(wanted)) != 0) {
			show("record %u is not whole", i);
			exit(1);
		}
		meet();
	}
}

int main(void)
{
	struct ibv_send_wr wr, *bad;

	if (!processes_open(NULL)) {
		serve();
		return processes_close();
	}
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, RECORD), there.memory, there.rkey);
	for (unsigned i = 1; i <= COUNT; i++) {
		memset(near.memory, (int)i, RECORD);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
		meet();
	}
	return processes_close();
}
