/* SPDX-License-Identifier: BSD-3-Clause */
/* recv_ring.h -- the ring of receives that a QP or an SRQ has in the segment. */
#pragma once

#include <infiniband/verbs.h>
#include <stdint.h>

#include "soft_device/process/segment.h"

/* In this process's own segment; callers hold the objects lock. 0 or -ENOMEM. */
int recv_ring_make(struct shared_ring *ring, uint32_t max_wr, uint32_t max_sge);
void recv_ring_free(struct shared_ring *ring);
void recv_ring_reset(struct shared_ring *ring);

/*
 * Posts a list, as ibv_post_recv() does: 0, or ENOMEM (full) or EINVAL (too many sge) and *wr is
 * the first that was not posted. The owner only, one thread at a time.
 */
int recv_ring_post(struct shared_ring *ring, struct ibv_recv_wr **wr);

/* The oldest entry, not taken yet; NULL when empty. Callers hold the lock of the QP. */
const struct shared_recv *recv_ring_peek(struct segment *segment, const struct shared_ring *ring);
void recv_ring_take(struct shared_ring *ring);
/* The entry at `tail`, as of an SRQ, where others may take it meanwhile. */
const struct shared_recv *recv_ring_at(struct segment *segment, const struct shared_ring *ring,
				       uint32_t tail);
