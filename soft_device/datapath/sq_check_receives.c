/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_receives.c -- where and when receives were posted, for `rpma-soft --check`: a stack
 * for each place of a ring.
 */
#include <stdlib.h>
#include <string.h>

#include "mr_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/check/watch.h"
#include "soft_device/process/process.h"
#include "sq_check.h"

#define RINGS 256u

/* Each receive of a ring as it was posted. */
struct receives {
	struct receives *next;
	const struct shared_ring *ring;
	uint32_t slots;
	struct sq_check_receive at[];
};

static pthread_mutex_t receives_lock = PTHREAD_MUTEX_INITIALIZER;
static struct receives *rings[RINGS];
static struct receives **ring_bucket(const struct shared_ring *ring)
{
	return &rings[(uintptr_t)ring / sizeof(*ring) % RINGS];
}

/* The lock is held; NULL: none. */
static struct receives *find_ring(const struct shared_ring *ring)
{
	struct receives *at = *ring_bucket(ring);

	while (at != NULL && at->ring != ring)
		at = at->next;
	return at;
}

static struct receives *make_ring(const struct shared_ring *ring)
{
	struct receives *made = calloc(1, sizeof(*made) + ring->slots * sizeof(made->at[0]));

	if (made == NULL)
		return NULL;
	made->ring = ring;
	made->slots = ring->slots;
	made->next = *ring_bucket(ring);
	*ring_bucket(ring) = made;
	return made;
}

/* The memory of a receive; what is wrong with it is found when it is posted, or used. */
static __attribute__((noinline)) void watch_receive(const struct shared_ring *ring,
						    const struct ibv_recv_wr *wr, uint32_t position,
						    uint32_t stack, uint32_t qpn)
{
	const struct segment *segment = process_current->segment;
	uint32_t key;
	uint64_t memory;

	if (wr->num_sge < 1 || wr->sg_list->length == 0)
		return;
	key = check_lkey_taken(wr->sg_list->lkey);
	if (key >> 8 >= SEGMENT_MRS ||
	    mr_check_quick(segment, key, segment->mr[key >> 8].pd, wr->sg_list->addr,
			   wr->sg_list->length, IBV_ACCESS_LOCAL_WRITE, &memory) == NULL)
		return;
	watch_begin(&(struct watched){
		.owner = ring,
		.counter = &ring->tail,
		.number = position,
		.stack = stack,
		.qpn = qpn,
		.what = "a receive",
		.memory = memory,
		.length = wr->sg_list->length,
	});
}

void sq_check_receives(const struct shared_ring *ring, const struct ibv_recv_wr *list,
		       uint32_t stack, uint32_t qpn)
{
	const struct sq_check_receive posted = {stack, objects_gone_ever()};
	const uint32_t at = atomic_load(&ring->head);
	const uint32_t room = ring->max_wr - (at - atomic_load(&ring->tail));
	struct receives *receives;
	uint32_t count = 0;

	pthread_mutex_lock(&receives_lock);
	receives = find_ring(ring);
	if (receives == NULL)
		receives = make_ring(ring);
	/* what is refused must not take the place of one that waits */
	for (; list != NULL && count < room; list = list->next, count++) {
		if (receives != NULL)
			receives->at[(at + count) & (receives->slots - 1)] = posted;
		if (__builtin_expect(watch_any, 0))
			watch_receive(ring, list, at + count, stack, qpn);
	}
	pthread_mutex_unlock(&receives_lock);
	atomic_fetch_add_explicit(&check_requests, count, memory_order_relaxed);
}

struct sq_check_receive sq_check_receive_at(const struct shared_ring *ring, uint32_t position)
{
	const struct receives *receives;
	struct sq_check_receive found = {0, 0};

	pthread_mutex_lock(&receives_lock);
	receives = find_ring(ring);
	if (receives != NULL)
		found = receives->at[position & (receives->slots - 1)];
	pthread_mutex_unlock(&receives_lock);
	return found;
}

void sq_check_ring_end(const struct shared_ring *ring)
{
	struct receives **at = ring_bucket(ring), *found;

	pthread_mutex_lock(&receives_lock);
	while (*at != NULL && (*at)->ring != ring)
		at = &(*at)->next;
	found = *at;
	if (found != NULL)
		*at = found->next;
	pthread_mutex_unlock(&receives_lock);
	watch_forget(ring);
	free(found);
}

void sq_check_forget_receives(void)
{
	memset(rings, 0, sizeof(rings));
	pthread_mutex_init(&receives_lock, NULL);
}
