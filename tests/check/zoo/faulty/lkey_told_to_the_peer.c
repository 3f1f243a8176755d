/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: lkey-for-rkey; at main; key */
/* SHOWS: nothing|remote access error */
/* A novice believed that a region has one key, as both of its keys were equal on one adapter. */
#include "zoo.h"

int main(void)
{
	uint32_t key;

	if (!processes_open(NULL)) {
		tell(&near.mr->lkey, sizeof(near.mr->lkey));
		meet();
		return 0;
	}
	hear(&key, sizeof(key));
	names("%#x", key);
	POST(near, at_peer(IBV_WR_RDMA_READ, 64, there.memory, key)); /* HERE */
	await(near.cq);
	meet();
	return 0;
}
