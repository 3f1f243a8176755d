/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread polls the queue from the beginning, long before another one posts what feeds it. */
#include "zoo.h"

#include <pthread.h>

static void *poll_always(void *unused)
{
	await(near.cq);
	return unused;
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	pthread_t poller;

	pair_open(NULL);
	MUST(pthread_create(&poller, NULL, poll_always, NULL));
	sleep(2);
	fill(near.memory, 64, 1);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory, there.rkey);
	MUST(ibv_post_send(near.qp, &wr, &bad));
	MUST(pthread_join(poller, NULL));
	CHECK(is_filled(far.memory, 64, 1));
	pair_close();
	return 0;
}
