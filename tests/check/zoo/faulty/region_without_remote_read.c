/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: right-missing; at main; REMOTE_READ */
/* SHOWS: remote access error */
/* A novice believed that the right to write includes the right to read. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;

	options.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	if (!processes_open(&options)) {
		meet();
		return 0;
	}
	names("%#x", there.rkey);
	wr = request(IBV_WR_RDMA_READ, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad)); /* HERE */
	await(near.cq);
	return 0;
}
