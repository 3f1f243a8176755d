/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: rkey-byte-swapped; at main; region */
/* SHOWS: remote access error */
/* A novice believed that keys go into a request in network byte order, as immediate data does. */
#include "zoo.h"

#include <arpa/inet.h>

int main(void)
{
	pair_open(NULL);
	names("%#x", there.rkey);
	POST(near, at_peer(IBV_WR_RDMA_WRITE, 64, there.memory, htonl(there.rkey))); /* HERE */
	await(near.cq);
	return 0;
}
