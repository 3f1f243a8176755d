/* SPDX-License-Identifier: BSD-3-Clause */
/* A source may be read by any number of requests at a time. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	fill(near.memory, PAGE, 8);
	for (unsigned i = 0; i < 8; i++) {
		POST(near, request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE),
				   there.memory + i * PAGE, there.rkey));
	}
	for (unsigned i = 0; i < 8; i++)
		await(near.cq);
	for (unsigned i = 0; i < 8; i++)
		CHECK(is_filled(far.memory + i * PAGE, PAGE, 8));
	pair_close();
	return 0;
}
