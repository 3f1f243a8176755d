/* SPDX-License-Identifier: BSD-3-Clause */
/* EXPECT: wait-for-nothing|lost-wakeup; at main; CQ */
/* SHOWS: hangs */
/* A novice believed that a queue with a channel tells of each completion by itself. */
#include "zoo.h"

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;
	struct ibv_cq *cq;
	void *context;

	options.has_channel = true;
	pair_open(&options);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	may_hang();
	MUST(ibv_get_cq_event(near.channel, &cq, &context)); /* HERE */
	return 0;
}
