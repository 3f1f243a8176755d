/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop polls all queues, also one into which nothing can complete: it waits for a word of its
 * memory, as libraries do that have one loop for whatever is under way. */
#include "zoo.h"

#include <pthread.h>

static void *answer_late(void *unused)
{
	struct ibv_sge sge = piece(&far, 0, 8);

	sleep(2);
	fill(far.memory, 8, 1);
	POST(far, request(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)near.memory + PAGE, near.mr->rkey));
	await(far.cq);
	return unused;
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	volatile uint64_t *answer;
	struct ibv_wc wc;
	pthread_t thread;

	PAIR_OPEN(o.recv_cqe = 16);
	answer = (volatile uint64_t *)(void *)(near.memory + PAGE);
	receive(&near, SIZE - 64, 64);
	wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 0, 64), there.memory + PAGE, there.rkey);
	wr.send_flags = 0;
	MUST(ibv_post_send(near.qp, &wr, &bad));
	MUST(pthread_create(&thread, NULL, answer_late, NULL));
	while (*answer == 0) {
		CHECK(ibv_poll_cq(near.cq, 1, &wc) == 0);
		CHECK(ibv_poll_cq(near.recv_cq, 1, &wc) == 0);
	}
	MUST(pthread_join(thread, NULL));
	CHECK(is_filled(near.memory + PAGE, 8, 1));
	return 0;
}
