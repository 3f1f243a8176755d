/* SPDX-License-Identifier: BSD-3-Clause */
/* A program may end with everything open: the kernel takes it back. */
#include "zoo.h"

int main(void)
{
	pair_open(NULL);
	receive(&far, 0, 64);
	fill(near.memory, 64, 1);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	await(near.cq);
	return is_filled(far.memory, 64, 1) ? 0 : 1;
}
