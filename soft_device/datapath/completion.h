/* SPDX-License-Identifier: BSD-3-Clause */
/* completion.h -- completions: into the ring of a CQ, and out of it. */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "soft_device/process/segment.h"
#include "soft_device/transport/peer.h"

/* The entries of the ring. */
static inline struct shared_slot *completion_ring(struct segment *segment,
						  const struct shared_cq *shared)
{
	return segment_at(segment, shared->offset);
}

/*
 * True if a poll may find something; the lock settles it. Who arms looks at `head` after `armed`,
 * who pushes at `armed` after `head`, sequentially consistent: one of them sees the other.
 */
static inline bool completion_none(const struct shared_cq *shared)
{
	return atomic_load(&shared->head) ==
	       atomic_load_explicit(&shared->tail, memory_order_relaxed);
}

/*
 * Pushes a completion to CQ `index` of the peer's segment (peer_self too) and, when it is armed for
 * it, notifies its channel. False when the CQ overflowed: the completion is lost and
 * RAISE_CQ_OVERFLOW is raised; the caller fails its QP. With shared_cq.may_overrun it is lost, and
 * true.
 */
bool completion_push(struct peer *peer, uint32_t index, const struct shared_cqe *cqe);

/* How long a poll waits for a completion that is being written, before it is passed over. */
#define COMPLETION_PATIENCE_NS UINT64_C(20000000)

/* Up to `count` of the own segment's CQ, and their number. Takes shared_cq.lock, as do the rest. */
int completion_take(struct shared_cq *shared, int count, struct ibv_wc *wc);
/* The next one, and when it was pushed: of a CQ whose completions are stamped. False: none. */
bool completion_take_one(struct shared_cq *shared, struct ibv_wc *wc, uint64_t *stamp_ns);

/* Gives the event that is held back, if one is: true, and it is to be rung. */
bool completion_end_hold(struct shared_cq *shared);

/* The next poll finds nothing, a completion, or one that is still being written. */
enum completion_front { COMPLETION_NONE, COMPLETION_READY, COMPLETION_HOLE };
enum completion_front completion_front(struct shared_cq *shared);
/* Gives the event of a completion that is there since before the CQ was armed: true, and it is to
 * be rung. */
bool completion_ring_late(struct shared_cq *shared);

/* Is the CQ armed for a completion at position `since` or later, or was it when that was pushed?
 * Its event is overdue: who pushes gives it at once. */
bool completion_is_owed(struct shared_cq *shared, uint32_t since);

/* A slot that is copied to another ring: 1, and it is passed over there, if it does not count. */
uint32_t completion_skip(struct shared_slot *slot, uint32_t position);
/* Removes the completions of a QP that is destroyed or reset, as mlx4 and mlx5 do. */
void completion_purge(struct shared_cq *shared, uint32_t qpn);
