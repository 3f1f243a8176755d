/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: path-mtu; at main; QP */
/* SHOWS: remote invalid request|bad response|transport retry|nothing */
/* A novice let each end take the MTU of its own port, and believed that they agree on one. */
#include "zoo.h"

int main(void)
{
	struct options small = defaults(), large = defaults();

	small.mtu = IBV_MTU_512;
	large.mtu = IBV_MTU_2048;
	pair_open_with(&small, &large); /* HERE */
	names("512");
	names("2048");
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, PAGE)); /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
