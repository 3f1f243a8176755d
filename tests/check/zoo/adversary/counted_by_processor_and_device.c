/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter to which the processor adds and the device: with IBV_ATOMIC_HCA atomics of the device
 * are atomic among each other only. Ends with 1 when an addition is lost.
 */
#include "zoo.h"

#include <pthread.h>
#include <stdatomic.h>

#define COUNT 1000u

static atomic_bool done;

/* Returns how much it has added. */
static void *add(void *counter)
{
	uint64_t added = 0;

	while (!done) {
		__atomic_fetch_add((uint64_t *)counter, 1, __ATOMIC_SEQ_CST);
		added++;
	}
	return (void *)(uintptr_t)added;
}

int main(void)
{
	uint64_t *counter, sum = 0;
	struct ibv_send_wr wr, *bad;
	pthread_t thread;
	void *added;

	pair_open(NULL);
	counter = (uint64_t *)(void *)far.memory;
	MUST(pthread_create(&thread, NULL, add, counter));
	wr = to_peer(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8);
	wr.wr.atomic.compare_add = 1;
	for (unsigned i = 0; i < COUNT; i++) {
		MUST(ibv_post_send(near.qp, &wr, &bad));
		await(near.cq);
	}
	done = true;
	MUST(pthread_join(thread, &added));
	sum = COUNT + (uintptr_t)added;
	if (*counter != sum) {
		show("%llu additions of %llu are lost", (unsigned long long)(sum - *counter),
		     (unsigned long long)sum);
		return 1;
	}
	pair_close();
	return 0;
}
