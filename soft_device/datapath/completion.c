/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c -- the ring of a completion queue: pushing and taking.
 *
 * The ring is in the segment because the owner, its threads and peers all push
 * completions of receives. head and tail run freely and are written under the lock, so a poll of an
 * empty queue has to look at the two of them only.
 */
#include "completion.h"

#include "soft_device/process/process.h"
#include "sq.h"

#define POISON 0x5a5a5a5a /* in what the manual leaves undefined after an error */

/* What the owner of the CQ is told after a completion. */
enum notice { NOTICE_NONE, NOTICE_EVENT, NOTICE_HELD };

/* The lock is held. */
static void count_event(struct shared_cq *shared)
{
	shared->held = 0;
	shared->armed = ARM_NONE;
	atomic_fetch_add(&shared->events, 1);
}

/* The CQ is armed for this completion: an event, unless it waits for more of them. */
static enum notice announce(struct shared_cq *shared)
{
	if (shared->moderate_us == 0 || shared->held + 1 >= shared->moderate_count) {
		count_event(shared);
		return NOTICE_EVENT;
	}
	if (shared->held++ > 0)
		return NOTICE_NONE;
	atomic_fetch_or(&shared->raise, RAISE_CQ_HELD);
	return NOTICE_HELD;
}

/* Puts the entry into the ring. The lock is held. */
static enum notice put(struct segment *segment, struct shared_cq *shared,
		       const struct shared_cqe *cqe)
{
	const uint32_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	bool urgent = cqe->solicited != 0 || cqe->status != IBV_WC_SUCCESS;

	completion_ring(segment, shared)[head & (shared->slots - 1)] = *cqe;
	atomic_store_explicit(&shared->head, head + 1, memory_order_release);
	if (shared->armed == ARM_NONE || (shared->armed == ARM_SOLICITED && !urgent))
		return NOTICE_NONE;
	if (shared->channel_id != 0)
		return announce(shared);
	shared->armed = ARM_NONE;
	return NOTICE_NONE;
}

bool completion_push(struct peer *peer, uint32_t index, const struct shared_cqe *cqe)
{
	struct shared_cq *shared;
	enum notice notice = NOTICE_NONE;
	bool overflow;

	if (index >= SEGMENT_CQS)
		return false;
	shared = &peer->segment->cq[index];
	shared_lock_take(&shared->lock);
	overflow = shared->overflowed != 0 || shared->live == 0 ||
		   atomic_load_explicit(&shared->head, memory_order_relaxed) -
				   atomic_load_explicit(&shared->tail, memory_order_relaxed) >=
			   shared->cqe;
	if (!overflow)
		notice = put(peer->segment, shared, cqe);
	else
		shared->overflowed = 1;
	shared_lock_release(&shared->lock);
	if (notice == NOTICE_EVENT)
		peer_ring(peer, shared);
	if (notice == NOTICE_HELD)
		peer_raise(peer, &shared->raise, RAISE_CQ_HELD);
	if (overflow)
		peer_raise(peer, &shared->raise, RAISE_CQ_OVERFLOW);
	return !overflow;
}

bool completion_end_hold(struct shared_cq *shared)
{
	bool held;

	shared_lock_take(&shared->lock);
	/* not one that began when the period of another ended: its own has yet to begin */
	held = shared->held > 0 && (atomic_load(&shared->raise) & RAISE_CQ_HELD) == 0;
	if (held)
		count_event(shared);
	shared_lock_release(&shared->lock);
	return held;
}

static void fill_wc(struct ibv_wc *wc, const struct shared_cqe *cqe)
{
	wc->wr_id = cqe->wr_id;
	wc->status = (enum ibv_wc_status)cqe->status;
	wc->opcode = (enum ibv_wc_opcode)cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->imm_data = cqe->imm_data;
	wc->qp_num = cqe->qp_num;
	wc->src_qp = 0;
	wc->wc_flags = cqe->wc_flags;
	wc->pkey_index = 0;
	wc->slid = 0;
	wc->sl = 0;
	wc->dlid_path_bits = 0;
	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0)) {
		wc->opcode = (enum ibv_wc_opcode)POISON;
		wc->byte_len = POISON;
		wc->imm_data = POISON;
		wc->wc_flags = 0;
	}
}

int completion_take(struct shared_cq *shared, int count, struct ibv_wc *wc)
{
	const struct shared_cqe *ring;
	uint32_t tail, head;
	int taken = 0;

	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);
	while (taken < count && tail != head) {
		const struct shared_cqe *cqe = &ring[tail++ & (shared->slots - 1)];

		fill_wc(&wc[taken++], cqe);
		if (cqe->is_send)
			sq_release(cqe->sq_release);
	}
	atomic_store_explicit(&shared->tail, tail, memory_order_release);
	shared_lock_release(&shared->lock);
	return taken;
}

void completion_purge(struct shared_cq *shared, uint32_t qpn)
{
	struct shared_cqe *ring;
	uint32_t kept;

	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	kept = shared->tail;
	for (uint32_t at = shared->tail; at != shared->head; at++) {
		const struct shared_cqe *cqe = &ring[at & (shared->slots - 1)];

		if (cqe->qp_num != qpn)
			ring[kept++ & (shared->slots - 1)] = *cqe;
	}
	atomic_store_explicit(&shared->head, kept, memory_order_release);
	shared_lock_release(&shared->lock);
}
