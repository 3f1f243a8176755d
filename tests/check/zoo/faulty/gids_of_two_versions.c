/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: gid-version; at main; QP */
/* SHOWS: transport retry counter exceeded|not so: end->context != NULL */
/* A novice took GID index 0 at one end, and believed that an address is an address. */
#include "zoo.h"

int main(void)
{
	struct options first = defaults(), second = defaults();

	first.gid_type = IBV_GID_TYPE_ROCE_V1; /* a device that has none shows nothing here */
	pair_open_with(&first, &second);       /* HERE */
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64)); /* HERE: where it comes to light */
	await(near.cq);
	return 0;
}
