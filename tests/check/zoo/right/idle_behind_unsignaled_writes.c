/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread makes progress for ever, by polling; another one signals every eighth write, and has
 * nothing to write for a while, in the middle of eight. */
#include "zoo.h"

#include <pthread.h>

static void *progress(void *unused)
{
	await(near.cq);
	return unused;
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	pthread_t thread;

	PAIR_OPEN(o.cap.max_inline_data = 64);
	fill(near.memory, 64, 5);
	MUST(pthread_create(&thread, NULL, progress, NULL));
	for (unsigned i = 0; i < 8; i++) {
		wr = to_peer(IBV_WR_RDMA_WRITE, 0, 64);
		wr.send_flags = i < 7 ? IBV_SEND_INLINE : IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		MUST(ibv_post_send(near.qp, &wr, &bad));
		if (i == 2)
			usleep(2500000);
	}
	MUST(pthread_join(thread, NULL));
	CHECK(is_filled(far.memory, 64, 5));
	pair_close();
	return 0;
}
