/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: double-destroy; at main; context */
/* SHOWS: nothing|double free|corrupt|killed by signal */
/* A novice closed the device with the connection, and again at the end. */
#include "zoo.h"

int main(void)
{
	struct ibv_context *context;

	pair_open(NULL);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	await(near.cq);
	context = near.context;
	names("%p", (void *)context);
	pair_close();
	ibv_close_device(context); /* HERE */
	return 0;
}
