/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop polls all queues, also one into which nothing can complete: it waits for a word of its
 * memory, as libraries do that have one loop for whatever is under way. */
#include "zoo.h"

#include <pthread.h>

static void *answer_late(void *unused)
{
	struct ibv_sge sge = piece(&far, 0, 8);
	struct ibv_send_wr wr, *bad;

	sleep(2);
	fill(far.memory, 8, 1);
	wr = request(IBV_WR_RDMA_WRITE, &sge, (uintptr_t)near.memory + PAGE, near.mr->rkey);
	MUST(ibv_post_send(far.qp, &wr, &bad));
	await(far.cq);
	return unused;
}

int main(void)
{
	struct options options = defaults();
	struct ibv_send_wr wr, *bad;
	volatile uint64_t *answer;
	struct ibv_sge sge;
	struct ibv_wc wc;
	pthread_t thread;

	options.recv_cqe = 16;
	pair_open(&options);
	answer = (volatile uint64_t *)(void *)(near.memory + PAGE);
	receive(&near, SIZE - 64, 64);
	sge = piece(&near, 0, 64);
	wr = request(IBV_WR_RDMA_WRITE, &sge, there.memory + PAGE, there.rkey);
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
