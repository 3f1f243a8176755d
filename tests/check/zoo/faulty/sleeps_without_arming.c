/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: wait-for-nothing|lost-wakeup; at main; CQ */
/* SHOWS: hangs */
/* A novice believed that a queue with a channel tells of each completion by itself. */
#include "zoo.h"

int main(void)
{
	struct ibv_cq *cq;
	void *context;

	PAIR_OPEN(o.has_channel = true);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	may_hang();
	MUST(ibv_get_cq_event(near.channel, &cq, &context)); /* HERE */
	return 0;
}
