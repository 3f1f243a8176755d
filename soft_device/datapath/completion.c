/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c -- the ring of a completion queue: pushing and taking.
 *
 * The ring is in the segment because the owner, its threads and peers all push
 * completions of receives. A peer may be stopped or killed at any instruction, so pushing takes no
 * lock: a thread moves `head` to have the slot before it, writes there, and then makes the slot
 * count by one exchange. A poll that has waited long for a slot to count leaves it, by an exchange
 * of the same word: the late writer sees that, and pushes again elsewhere. Until then the slot is
 * not used. So no completion is lost and none is overwritten, and there is no need to know whether
 * a writer is dead, stopped or slow.
 *
 * Threads that poll exclude each other by the lock; head and tail run freely.
 */
#include "completion.h"

#include "soft_device/process/process.h"
#include "sq.h"

#define POISON 0x5a5a5a5a /* in what the manual leaves undefined after an error */

/* The notice to the owner of the CQ after a completion. */
enum notice { NOTICE_NONE, NOTICE_EVENT, NOTICE_HELD };

static uint64_t word_of(uint32_t position, enum shared_use use)
{
	return (uint64_t)position << 32 | use;
}

static inline enum shared_use use_of(uint64_t word)
{
	return (enum shared_use)(word & SLOT_USE);
}

/* Left by a poll, or passed over since: whose writer it was that is late. */
static uint64_t late_word(uint32_t position, enum shared_use use, uint32_t writer)
{
	return word_of(position, use) | (uint32_t)(writer << SLOT_WRITER_SHIFT);
}

static uint32_t writer_of(uint64_t word)
{
	return (uint32_t)word >> SLOT_WRITER_SHIFT;
}

static inline bool exchange(struct shared_slot *slot, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong(&slot->use, &from, to);
}

/* --- events --- */

/* False: another completion has taken the event, or the CQ was not armed. */
static bool disarm(struct shared_cq *shared, uint32_t armed)
{
	if (armed == ARM_NONE || !atomic_compare_exchange_strong(&shared->armed, &armed, ARM_NONE))
		return false;
	if (shared->channel_id == 0)
		return false;
	atomic_store(&shared->held, 0);
	atomic_fetch_add(&shared->events, 1);
	return true;
}

/* The CQ is armed for this completion: an event, unless it waits for more of them. */
static enum notice announce(struct shared_cq *shared, uint32_t armed)
{
	uint32_t held;

	if (shared->channel_id != 0 && shared->moderate_us != 0) {
		held = atomic_fetch_add(&shared->held, 1);
		if (held + 1 < shared->moderate_count) {
			if (held == 0)
				atomic_fetch_or(&shared->raise, RAISE_CQ_HELD);
			return held == 0 ? NOTICE_HELD : NOTICE_NONE;
		}
	}
	return disarm(shared, armed) ? NOTICE_EVENT : NOTICE_NONE;
}

bool completion_end_hold(struct shared_cq *shared)
{
	/* not one that began when the period of another ended: its own has yet to begin */
	return atomic_load(&shared->held) > 0 &&
	       (atomic_load(&shared->raise) & RAISE_CQ_HELD) == 0 &&
	       disarm(shared, atomic_load(&shared->armed));
}

/* --- pushing --- */

/* A slot that takes no completion is none of the CQ's entries: there is room for as many more, as
 * far as it goes. It is counted from when it is passed over until it is used again. */
static void count_left(struct shared_cq *shared, int change)
{
	const uint32_t left = atomic_fetch_add(&shared->left, (uint32_t)change) + (uint32_t)change;
	uint32_t room = atomic_load(&shared->room), more;

	do
		more = shared->cqe + left < shared->slots ? shared->cqe + left : shared->slots;
	while (room != 0 && !atomic_compare_exchange_weak(&shared->room, &room, more));
}

/*
 * A slot that was used in an unusual way. True: it is passed over at this position, as a late
 * writer may still be there, or as the poll has passed already. False: it may be used.
 */
static __attribute__((noinline)) bool pass_over(struct shared_slot *slot, uint32_t position,
						uint64_t *word)
{
	for (;; *word = atomic_load(&slot->use)) {
		const enum shared_use use = use_of(*word);
		const bool here = (uint32_t)(*word >> 32) == position;
		const uint32_t writer = writer_of(*word);
		/* left before we got to it: there is no other writer */
		const bool own = writer == writer_of(late_word(0, SLOT_LEFT, position));

		if (use == SLOT_EMPTY)
			return here;
		if (use <= SLOT_FULL)
			return false;
		if (!own && here)
			return true;
		if (!exchange(slot, *word,
			      own ? (*word & ~UINT64_C(0xffffffff)) | SLOT_EMPTY
				  : late_word(position, SLOT_PASSED, writer)))
			continue;
		return true;
	}
}

/* A slot of one's own; NULL: the ring is full. */
static inline struct shared_slot *reserve(struct segment *segment, struct shared_cq *shared,
					  uint32_t *position, uint64_t *word)
{
	struct shared_slot *slot;
	uint32_t head = atomic_load_explicit(&shared->head, memory_order_acquire), used;

	for (;;) {
		used = head - atomic_load_explicit(&shared->tail, memory_order_acquire);
		if (used >= atomic_load_explicit(&shared->room, memory_order_relaxed)) {
			/* full, unless others pushed, and a poll took, between the two */
			const uint32_t seen = head;

			head = atomic_load(&shared->head);
			if (head == seen)
				return NULL;
			continue;
		}
		if (!atomic_compare_exchange_weak(&shared->head, &head, head + 1))
			continue;
		slot = &completion_ring(segment, shared)[head & (shared->slots - 1)];
		*position = head;
		*word = atomic_load_explicit(&slot->use, memory_order_relaxed);
		if (__builtin_expect(use_of(*word) <= SLOT_FULL, 1) || !pass_over(slot, head, word))
			return slot;
		head++;
	}
}

/* A poll has left the slot: it is free now, at whatever position it was passed over last. */
static __attribute__((noinline)) void give_back(struct shared_slot *slot)
{
	uint64_t word = atomic_load(&slot->use);

	while (!atomic_compare_exchange_weak(&slot->use, &word,
					     (word & ~UINT64_C(0xffffffff)) | SLOT_EMPTY))
		;
}

/* False: the ring is full. Inlined once with stamps and once without: a clock that is read costs
 * the other way nothing. */
static inline __attribute__((always_inline)) bool
put(struct segment *segment, struct shared_cq *shared, const struct shared_cqe *cqe, bool stamped)
{
	struct shared_slot *slot;
	uint32_t position;
	uint64_t word;

	while ((slot = reserve(segment, shared, &position, &word)) != NULL) {
		slot->cqe = *cqe;
		if (stamped)
			slot->stamp_ns = process_now_ns();
		if (__builtin_expect(exchange(slot, word, word_of(position, SLOT_FULL)), 1)) {
			if (__builtin_expect(use_of(word) > SLOT_FULL, 0))
				count_left(shared, -1);
			return true;
		}
		give_back(slot);
	}
	return false;
}

/* There is no room. True: the completion may be lost. */
static __attribute__((noinline)) bool overflow(struct peer *peer, struct shared_cq *shared)
{
	const bool is_live = atomic_load(&shared->live) == CQ_LIVE;

	if (is_live && shared->may_overrun != 0)
		return true;
	atomic_store(&shared->room, 0);
	if (is_live)
		peer_raise(peer, &shared->raise, RAISE_CQ_OVERFLOW);
	return false;
}

/* The CQ is armed, maybe for this completion. */
static __attribute__((noinline)) void tell_owner(struct peer *peer, struct shared_cq *shared,
						 const struct shared_cqe *cqe, uint32_t armed)
{
	enum notice notice;

	if (armed == ARM_SOLICITED && cqe->solicited == 0 && cqe->status == IBV_WC_SUCCESS)
		return;
	notice = announce(shared, armed);
	if (notice == NOTICE_EVENT)
		peer_ring(peer, shared);
	if (notice == NOTICE_HELD)
		peer_raise(peer, &shared->raise, RAISE_CQ_HELD);
}

/* Inlined as put() is. */
static inline __attribute__((always_inline)) bool push(struct peer *peer, struct shared_cq *shared,
						       const struct shared_cqe *cqe, bool stamped)
{
	uint32_t armed;

	if (!put(peer->segment, shared, cqe, stamped))
		return overflow(peer, shared);
	armed = atomic_load(&shared->armed);
	if (__builtin_expect(armed != ARM_NONE, 0))
		tell_owner(peer, shared, cqe, armed);
	return true;
}

static __attribute__((noinline)) bool push_stamped(struct peer *peer, struct shared_cq *shared,
						   const struct shared_cqe *cqe)
{
	return push(peer, shared, cqe, true);
}

bool completion_push(struct peer *peer, uint32_t index, const struct shared_cqe *cqe)
{
	struct shared_cq *shared;

	if (index >= SEGMENT_CQS)
		return false;
	shared = &peer->segment->cq[index];
	if (__builtin_expect(shared->stamped != 0, 0))
		return push_stamped(peer, shared, cqe);
	return push(peer, shared, cqe, false);
}

/* --- taking --- */

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

/*
 * The sender of a datagram. As with mlx5, whose completions UCX knows, `sl` tells what its header
 * is: of IPv4 2, of IPv6 1; on RoCE there is no service level that it could be.
 */
static inline void fill_source(struct ibv_wc *wc, const struct shared_cqe *cqe)
{
	wc->src_qp = cqe->src_qp & 0xffffff;
	wc->sl = (uint8_t)(cqe->src_qp >> 24);
}

/* The slot at the tail does not count yet: true when it is left for good. The lock is held. */
static __attribute__((noinline)) bool leave_slot(struct shared_cq *shared, struct shared_slot *slot,
						 uint32_t tail, uint64_t word)
{
	const uint64_t now_ns = process_now_ns();
	const bool counted = use_of(word) > SLOT_FULL;
	const bool passed = counted && use_of(word) != SLOT_EMPTY;

	if (shared->waits_since_ns == 0 || shared->waits_at != tail) {
		shared->waits_at = tail;
		shared->waits_since_ns = now_ns;
		return false;
	}
	if (now_ns - shared->waits_since_ns < COMPLETION_PATIENCE_NS)
		return false;
	shared->waits_since_ns = 0;
	if (!counted)
		count_left(shared, 1);
	if (exchange(slot, word,
		     passed ? late_word(tail, SLOT_PASSED, writer_of(word))
			    : late_word(tail, SLOT_LEFT, tail)))
		return true;
	if (!counted)
		count_left(shared, -1); /* its completion counts now */
	return false;
}

static inline bool counts(const struct shared_slot *slot, uint32_t tail)
{
	return __builtin_expect(atomic_load_explicit(&slot->use, memory_order_acquire) ==
					word_of(tail, SLOT_FULL),
				1);
}

/* The slot at the tail does not count: true when it is passed over. */
static __attribute__((noinline)) bool pass(struct shared_cq *shared, struct shared_slot *slot,
					   uint32_t tail)
{
	const uint64_t word = atomic_load(&slot->use);

	if ((uint32_t)(word >> 32) == tail && use_of(word) > SLOT_FULL)
		return true;
	return word != word_of(tail, SLOT_FULL) && leave_slot(shared, slot, tail, word);
}

/* Takes what counts, and returns at a slot that does not. The lock is held. */
static inline int take_plain(struct shared_cq *shared, int taken, int count, struct ibv_wc *wc)
{
	const struct shared_slot *ring = completion_ring(process_current->segment, shared), *slot;
	const uint32_t head = atomic_load_explicit(&shared->head, memory_order_relaxed);
	uint32_t tail = atomic_load_explicit(&shared->tail, memory_order_relaxed);

	while (taken < count && tail != head) {
		slot = &ring[tail & (shared->slots - 1)];
		if (!counts(slot, tail))
			break;
		tail++;
		fill_wc(&wc[taken++], &slot->cqe);
		if (slot->cqe.is_send)
			sq_release(slot->cqe.sq_release);
		else
			fill_source(&wc[taken - 1], &slot->cqe);
	}
	atomic_store_explicit(&shared->tail, tail, memory_order_release);
	return taken;
}

/* Passes over the slot at the tail, and goes on. A function of its own: it costs the other none.
 */
static __attribute__((noinline)) int take_rest(struct shared_cq *shared, int taken, int count,
					       struct ibv_wc *wc)
{
	uint32_t tail = atomic_load(&shared->tail);

	while (taken < count && tail != atomic_load(&shared->head) &&
	       pass(shared,
		    &completion_ring(process_current->segment, shared)[tail & (shared->slots - 1)],
		    tail)) {
		atomic_store(&shared->tail, tail + 1);
		taken = take_plain(shared, taken, count, wc);
		tail = atomic_load(&shared->tail);
	}
	shared_lock_release(&shared->lock);
	return taken;
}

int completion_take(struct shared_cq *shared, int count, struct ibv_wc *wc)
{
	int taken;

	shared_lock_take(&shared->lock);
	taken = take_plain(shared, 0, count, wc);
	if (__builtin_expect(taken < count && !completion_none(shared), 0))
		return take_rest(shared, taken, count, wc);
	shared_lock_release(&shared->lock);
	return taken;
}

/* The stamp is read before the slot is free for the next completion. */
bool completion_take_one(struct shared_cq *shared, struct ibv_wc *wc, uint64_t *stamp_ns)
{
	struct shared_slot *ring, *slot;
	bool taken = false;
	uint32_t tail;

	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	while (!taken && !completion_none(shared)) {
		tail = atomic_load(&shared->tail);
		slot = &ring[tail & (shared->slots - 1)];
		if (counts(slot, tail)) {
			*stamp_ns = slot->stamp_ns;
			taken = take_plain(shared, 0, 1, wc) == 1;
		} else if (pass(shared, slot, tail)) {
			atomic_store(&shared->tail, tail + 1);
		} else {
			break;
		}
	}
	shared_lock_release(&shared->lock);
	return taken;
}

enum completion_front completion_front(struct shared_cq *shared)
{
	enum completion_front front = COMPLETION_NONE;
	struct shared_slot *ring, *slot;
	uint32_t tail;

	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	tail = atomic_load(&shared->tail);
	while (front == COMPLETION_NONE && tail != atomic_load(&shared->head)) {
		slot = &ring[tail & (shared->slots - 1)];
		if (counts(slot, tail))
			front = COMPLETION_READY;
		else if (pass(shared, slot, tail))
			tail++;
		else
			front = COMPLETION_HOLE;
	}
	atomic_store(&shared->tail, tail);
	shared_lock_release(&shared->lock);
	return front;
}

bool completion_is_owed(struct shared_cq *shared, uint32_t since)
{
	const uint32_t armed = atomic_load(&shared->armed);
	const struct shared_slot *ring, *slot;
	uint32_t at;
	bool owed = false;

	if (armed == ARM_NONE || atomic_load(&shared->held) > 0)
		return false;
	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	at = atomic_load(&shared->tail);
	if ((int32_t)(since - at) > 0)
		at = since;
	for (; !owed && (int32_t)(atomic_load(&shared->head) - at) > 0; at++) {
		slot = &ring[at & (shared->slots - 1)];
		owed = counts(slot, at) && (armed == ARM_ANY || slot->cqe.solicited != 0 ||
					    slot->cqe.status != IBV_WC_SUCCESS);
	}
	shared_lock_release(&shared->lock);
	return owed;
}

bool completion_ring_late(struct shared_cq *shared)
{
	return disarm(shared, atomic_load(&shared->armed));
}

uint32_t completion_skip(struct shared_slot *slot, uint32_t position)
{
	if (counts(slot, position))
		return 0;
	atomic_store(&slot->use, word_of(position, SLOT_EMPTY));
	return 1;
}

void completion_purge(struct shared_cq *shared, uint32_t qpn)
{
	struct shared_slot *ring;
	uint32_t head, tail, kept;

	shared_lock_take(&shared->lock);
	ring = completion_ring(process_current->segment, shared);
	head = atomic_load(&shared->head);
	tail = atomic_load(&shared->tail);
	for (uint32_t at = tail; at != head; at++) {
		struct shared_slot *slot = &ring[at & (shared->slots - 1)];

		if (counts(slot, at) && slot->cqe.qp_num == qpn) {
			count_left(shared, 1);
			atomic_store(&slot->use, word_of(at, SLOT_EMPTY));
		}
	}
	kept = tail;
	while (kept != head &&
	       atomic_load(&ring[kept & (shared->slots - 1)].use) == word_of(kept, SLOT_EMPTY))
		kept++;
	atomic_store_explicit(&shared->tail, kept, memory_order_release);
	shared_lock_release(&shared->lock);
}
