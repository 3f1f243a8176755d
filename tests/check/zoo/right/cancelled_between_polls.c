/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that polls is cancelled, and ends where it asks for that itself: between two polls,
 * which are no cancellation points. Another thread goes on with the same queues. */
#include "zoo.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint polls;

static void *poll_until_cancelled(void *unused)
{
	struct ibv_wc wc;

	(void)unused;
	for (;;) {
		CHECK(ibv_poll_cq(far.cq, 1, &wc) == 0);
		atomic_fetch_add(&polls, 1);
		pthread_testcancel();
	}
	return NULL;
}

int main(void)
{
	pair_open(NULL);
	for (int round = 0; round < 40; round++) {
		const unsigned before = atomic_load(&polls);
		pthread_t thread;

		MUST(pthread_create(&thread, NULL, poll_until_cancelled, NULL));
		while (atomic_load(&polls) < before + 50)
			;
		for (int i = 0; i < 8; i++) {
			POST(near, to_peer(IBV_WR_RDMA_WRITE, 0, 2000));
			if (i == 3)
				MUST(pthread_cancel(thread));
			await(near.cq);
		}
		MUST(pthread_join(thread, NULL));
	}
	pair_close();
	return 0;
}
