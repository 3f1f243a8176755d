/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; REMOTE_READ */
/* SHOWS: remote access error */
/* A novice believed that the right to write includes the right to read. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();

	options.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (!processes_open(&options)) {
		meet();
		return 0;
	}
	names("%#x", there.rkey);
	POST(near, to_peer(IBV_WR_RDMA_READ, 0, 64)); /* HERE */
	await(near.cq);
	return 0;
}
