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
	pthread_t poller;

	pair_open(NULL);
	MUST(pthread_create(&poller, NULL, poll_always, NULL));
	sleep(2);
	fill(near.memory, 64, 1);
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	MUST(pthread_join(poller, NULL));
	CHECK(is_filled(far.memory, 64, 1));
	pair_close();
	return 0;
}
