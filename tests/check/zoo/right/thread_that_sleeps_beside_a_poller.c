/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread waits for events all the time; another polls the queue while it has work, and arms it
 * when it wants to be woken. Here it computes for long before it polls again. */
#include "zoo.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_bool woken;

static void *wait_for_events(void *unused)
{
	struct ibv_cq *cq;
	void *context;

	MUST(ibv_get_cq_event(near.channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	atomic_store(&woken, true);
	return unused;
}

int main(void)
{
	struct ibv_wc none;
	pthread_t thread;

	PAIR_OPEN(o.has_channel = true);
	MUST(pthread_create(&thread, NULL, wait_for_events, NULL));
	CHECK(ibv_poll_cq(near.cq, 1, &none) == 0);
	for (int i = 0; i < 4; i++)
		POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	usleep(1700000);
	for (int i = 0; i < 4; i++)
		await(near.cq);
	MUST(ibv_req_notify_cq(near.cq, 0));
	POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 64));
	while (!atomic_load(&woken))
		usleep(1000);
	await(near.cq);
	MUST(pthread_join(thread, NULL));
	pair_close();
	return 0;
}
