/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair may be its own peer. */
#include "zoo.h"

int main(void)
{
	struct address self;

	end_open(&near, NULL);
	self = end_address(&near);
	qp_connect(&near, near.qp, &self);
	fill(near.memory, PAGE, 2);
	POST(near,
	     request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, PAGE), self.memory + PAGE, self.rkey));
	await(near.cq);
	CHECK(is_filled(near.memory + PAGE, PAGE, 2));
	end_close(&near);
	return 0;
}
