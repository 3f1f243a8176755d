/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a read is used before its completion was taken: until then it may come at any time.
 * Ends with 1 when it is not there.
 */
#include "zoo.h"

#define COUNT 50u

int main(void)
{
	struct ibv_send_wr wr, *bad;
	unsigned char seen;

	pair_open(NULL);
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, PAGE), there.memory, there.rkey);
	for (unsigned i = 1; i <= COUNT; i++) {
		memset(far.memory, (int)i, PAGE);
		MUST(ibv_post_send(near.qp, &wr, &bad));
		seen = *(volatile unsigned char *)(near.memory + 100);
		await(near.cq);
		if (seen != i) {
			show("read %u was used before it came", i);
			return 1;
		}
	}
	pair_close();
	return 0;
}
