/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recv_ring.c -- receive work requests: the ring in the segment that both QPs and SRQs have.
 *
 * The owner posts without the QP's lock: an entry counts once `head` has moved.
 * Taking entries, by a peer or by the owner flushing, needs the lock.
 */
#include "recv_ring.h"

#include <errno.h>

#include "soft_device/check/check.h"
#include "soft_device/process/process.h"

static size_t ring_bytes(const struct shared_ring *ring)
{
	return (size_t)ring->slots * ring->stride;
}

int recv_ring_make(struct shared_ring *ring, uint32_t max_wr, uint32_t max_sge)
{
	ring->max_wr = max_wr;
	ring->max_sge = max_sge;
	ring->slots = power_of_two(max_wr);
	ring->stride = (uint32_t)(sizeof(struct shared_recv) + max_sge * sizeof(struct ibv_sge));
	atomic_store(&ring->head, 0);
	atomic_store(&ring->tail, 0);
	ring->offset = segment_alloc(ring_bytes(ring));
	return ring->offset == 0 ? -ENOMEM : 0;
}

void recv_ring_free(struct shared_ring *ring)
{
	if (ring->offset != 0)
		segment_free(ring->offset, ring_bytes(ring));
	ring->offset = 0;
}

void recv_ring_reset(struct shared_ring *ring)
{
	atomic_store(&ring->tail, atomic_load(&ring->head));
}

static struct shared_recv *entry(struct segment *segment, const struct shared_ring *ring,
				 uint32_t number)
{
	uint64_t at = (uint64_t)(number & (ring->slots - 1)) * ring->stride;

	return segment_at(segment, ring->offset + at);
}

static int post(struct shared_ring *ring, const struct ibv_recv_wr *wr)
{
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > ring->max_sge)
		return EINVAL;
	if (head - atomic_load(&ring->tail) >= ring->max_wr)
		return ENOMEM;
	struct shared_recv *recv = entry(process_current->segment, ring, head);

	recv->wr_id = wr->wr_id;
	recv->num_sge = (uint32_t)wr->num_sge;
	for (int i = 0; i < wr->num_sge; i++) {
		recv->sge[i] = wr->sg_list[i];
		recv->sge[i].lkey = check_lkey_taken(wr->sg_list[i].lkey);
	}
	atomic_store(&ring->head, head + 1);
	return 0;
}

int recv_ring_post(struct shared_ring *ring, struct ibv_recv_wr **wr)
{
	int error = 0;

	while (*wr != NULL && (error = post(ring, *wr)) == 0)
		*wr = (*wr)->next;
	return error;
}

const struct shared_recv *recv_ring_at(struct segment *segment, const struct shared_ring *ring,
				       uint32_t tail)
{
	return atomic_load(&ring->head) == tail ? NULL : entry(segment, ring, tail);
}

const struct shared_recv *recv_ring_peek(struct segment *segment, const struct shared_ring *ring)
{
	return recv_ring_at(segment, ring, atomic_load_explicit(&ring->tail, memory_order_relaxed));
}

void recv_ring_take(struct shared_ring *ring)
{
	atomic_fetch_add(&ring->tail, 1);
}
