/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread posts while another polls: verbs are safe for threads. */
#include "zoo.h"

#include <pthread.h>
#include <semaphore.h>

#define COUNT 200

static sem_t room;

static void *take(void *unused)
{
	for (int i = 0; i < COUNT; i++) {
		CHECK(await(near.cq).wr_id == (uint64_t)i);
		CHECK(sem_post(&room) == 0);
	}
	return unused;
}

int main(void)
{
	struct ibv_send_wr wr, *bad;
	pthread_t taker;

	pair_open(NULL);
	CHECK(sem_init(&room, 0, 16) == 0);
	fill(near.memory, SIZE, 5);
	MUST(pthread_create(&taker, NULL, take, NULL));
	for (size_t i = 0; i < COUNT; i++) {
		CHECK(sem_wait(&room) == 0);
		wr = request(IBV_WR_RDMA_WRITE, one_piece(&near, 64 * i, 64), there.memory + 64 * i,
			     there.rkey);
		wr.wr_id = i;
		MUST(ibv_post_send(near.qp, &wr, &bad));
	}
	MUST(pthread_join(taker, NULL));
	CHECK(memcmp(near.memory, far.memory, COUNT * 64) == 0);
	pair_close();
	return 0;
}
