/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendq.c -- the list of what waits, the room in the queue, and completions that the program did
 * not ask for.
 *
 * Verbs free the room of an operation when its completion was fetched, or that of a later one.
 * RPMA_CONN_OPT_SIGNAL_EVERY makes the library ask for a completion often enough, keep those
 * to itself, and know when the queue is full. Operations are numbered in the order in which
 * they were started: their positions, which wrap.
 */
#include "sendq.h"
#include "conn.h"
#include "log.h"
#include "work.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/param.h>

enum { SLOT_ALIGNMENT = _Alignof(max_align_t) };

static struct rpma_slot *slot_at(const struct rpma_sendq *q, uint32_t index)
{
	return (struct rpma_slot *)(void *)(q->slots + index * q->slot_bytes);
}

static uint32_t waiting(const struct rpma_sendq *q)
{
	return q->next->index - q->first->index;
}

/* The position of the next operation. */
static uint32_t position(const struct rpma_sendq *q)
{
	return q->base + q->next->index;
}

static bool is_native(const struct ibv_send_wr *wr)
{
	return (int)wr->opcode >= RPMA_WR_FLUSH;
}

static struct rpma_signalled *last_signalled(const struct rpma_sendq *q)
{
	return &q->ring[(q->ring_head - 1) & q->ring_mask];
}

/* --- room ------------------------------------------------------------------------------- */

static bool is_broken(const struct rpma_sendq *q)
{
	return atomic_load_explicit(&q->is_broken, memory_order_relaxed);
}

static uint32_t free_room(const struct rpma_sendq *q)
{
	if (q->every == 0)
		return UINT32_MAX;
	return q->size - (position(q) - atomic_load_explicit(&q->done, memory_order_acquire));
}

static const char full[] = "the send queue is full until completions are fetched "
			   "(rpma_cq_await_wc())";

/* Posts what waits: without its completions there would never be room. */
__attribute__((cold)) static int is_full(struct rpma_conn *conn)
{
	struct rpma_sendq *q = &conn->sendq;

	RPMA_LOG_DEBUG("the send queue is full");
	atomic_store_explicit(&q->refused_at, atomic_load(&q->done), memory_order_relaxed);
	atomic_store_explicit(&q->is_refused, true, memory_order_release);
	int ret = rpma_sendq_submit(conn);
	return ret ? ret : RPMA_FAIL_CONSTANT(RPMA_E_AGAIN, full);
}

/* There is room, and who posts knows it. */
static void forget_refusal(struct rpma_sendq *q)
{
	if (__builtin_expect(atomic_load_explicit(&q->is_refused, memory_order_relaxed), 0))
		atomic_store_explicit(&q->is_refused, false, memory_order_relaxed);
}

/* An address that no other thread has. */
static const void *this_thread(void)
{
	static _Thread_local char tag;

	return &tag;
}

/* The operation of the next slot. Once a completion has failed, each that is posted leaves one. */
static void count_operation(struct rpma_sendq *q, struct ibv_send_wr *wr)
{
	const uint32_t at = position(q);
	const bool asked = wr->send_flags & IBV_SEND_SIGNALED;

	atomic_store_explicit(&q->poster, this_thread(), memory_order_relaxed);

	if ((!asked && at != q->signal_at) || is_broken(q))
		return;
	wr->send_flags |= IBV_SEND_SIGNALED;
	q->signal_at = at + q->every;
	q->ring[q->ring_head & q->ring_mask] = (struct rpma_signalled){at, !asked};
	atomic_store_explicit(&q->ring_published, ++q->ring_head, memory_order_release);
}

/*
 * Limit of the slots that may be filled in place: not the one that completes the batch, nor one
 * that has to leave a completion, nor one that may have no room.
 */
static void set_stop(struct rpma_conn *conn)
{
	struct rpma_sendq *q = &conn->sendq;
	const uint32_t count = waiting(q);
	uint32_t more = q->batch > count + 1 ? q->batch - count - 1 : 0;

	more = MIN(more, q->slots_count - q->next->index);
	if (q->every > 0)
		more = MIN(more, MIN(q->signal_at - position(q), free_room(q)));
	q->stop = slot_at(q, q->next->index + more);
	q->plain_flags = count == 0 && q->every == 0 ? RPMA_F_COMPLETION_ALWAYS : 0;
}

/* --- open and close ----------------------------------------------------------------------- */

static int make_slots(struct rpma_sendq *q, uint32_t max_inline)
{
	const size_t bytes =
		sizeof(struct rpma_slot) + q->max_sge * sizeof(struct ibv_sge) + max_inline;

	q->slot_bytes = (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
	q->slots = calloc(q->slots_count + 1, q->slot_bytes);
	if (q->slots == NULL)
		return RPMA_FAIL_NOMEM((q->slots_count + 1) * q->slot_bytes);
	for (uint32_t i = 0; i <= q->slots_count; i++) {
		slot_at(q, i)->index = i;
		slot_at(q, i)->wr.sg_list = slot_at(q, i)->sge;
		if (i < q->slots_count)
			slot_at(q, i)->wr.next = &slot_at(q, i + 1)->wr;
	}
	q->first = q->next = slot_at(q, 0);
	return 0;
}

/*
 * Its size is a power of two, or indices would jump where positions wrap. Besides all that may be
 * under way it holds the one before, which rpma_sendq_withdraw() goes back to.
 */
static int make_ring(struct rpma_sendq *q)
{
	size_t entries = 1;

	while (entries <= q->size)
		entries *= 2;
	q->ring = calloc(entries, sizeof(*q->ring));
	if (q->ring == NULL)
		return RPMA_FAIL_NOMEM(entries * sizeof(*q->ring));
	q->ring_mask = (uint32_t)(entries - 1);
	last_signalled(q)->position = UINT32_MAX; /* as if before the first operation */
	q->signal_at = q->every - 1;
	return 0;
}

int rpma_sendq_open(struct rpma_conn *conn, uint32_t size, uint32_t max_sge, bool lists_natively)
{
	struct rpma_sendq *q = &conn->sendq;
	const uint32_t *options = conn->options;
	const uint32_t batch = MIN(options[RPMA_CONN_OPT_BATCH_SIZE], size);

	*q = (struct rpma_sendq){
		.slots_count = batch > RPMA_SENDQ_PARTS_MAX ? batch : RPMA_SENDQ_PARTS_MAX,
		.batch = batch,
		.max_sge = max_sge,
		.lists_natively = lists_natively,
		.every = options[RPMA_CONN_OPT_SIGNAL_EVERY],
		.size = size,
	};
	/*
	 * Operations of which none leaves a completion must leave room for a call of several: all
	 * leave one where the queue holds no more than one such call.
	 */
	q->every = MIN(q->every, q->size > RPMA_SENDQ_PARTS_MAX ? q->size / 2 : 1);
	int ret = make_slots(q, options[RPMA_CONN_OPT_INLINE_SIZE]);
	if (ret == 0 && q->every > 0)
		ret = make_ring(q);
	if (ret)
		return ret;
	set_stop(conn);
	q->batch_end = q->stop;
	return 0;
}

void rpma_sendq_close(struct rpma_sendq *q)
{
	if (q->slots != NULL && waiting(q) > 0)
		RPMA_LOG_WARNING("%u operations that waited were not posted", waiting(q));
	free(q->slots);
	free(q->ring);
	q->slots = NULL;
	q->ring = NULL;
}

/* --- the list ----------------------------------------------------------------------------- */

const struct ibv_send_wr *rpma_sendq_peek_back(const struct rpma_sendq *q, uint32_t behind)
{
	return waiting(q) > behind ? &slot_at(q, q->next->index - 1 - behind)->wr : NULL;
}

void rpma_sendq_withdraw(struct rpma_conn *conn, uint32_t mark)
{
	struct rpma_sendq *q = &conn->sendq;

	while (waiting(q) > 0 && (int32_t)(position(q) - mark) > 0) {
		q->next = slot_at(q, q->next->index - 1);
		q->natives -= is_native(&q->next->wr);
	}
	if (q->every > 0) {
		while ((int32_t)(last_signalled(q)->position - position(q)) >= 0)
			atomic_store_explicit(&q->ring_published, --q->ring_head,
					      memory_order_release);
		q->signal_at = last_signalled(q)->position + q->every;
	}
	if (waiting(q) == 0) { /* so all slots are free */
		q->base += q->next->index;
		q->first = q->next = slot_at(q, 0);
	}
	set_stop(conn);
}

uint32_t rpma_sendq_discard(struct rpma_conn *conn)
{
	const struct rpma_sendq *q = &conn->sendq;

	if (q->slots == NULL)
		return 0;
	const uint32_t count = waiting(q);
	rpma_sendq_withdraw(conn, q->base + q->first->index);
	return count;
}

/* More room was given out than there is: a receive was counted, see leave_failed(). */
static bool is_full_of_failed(const struct rpma_sendq *q, int err)
{
	return err == ENOMEM && is_broken(q);
}

/* The requests before bad_wr were posted. */
__attribute__((cold)) static int not_posted(struct rpma_conn *conn,
					    const struct ibv_send_wr *bad_wr, int err)
{
	struct rpma_sendq *q = &conn->sendq;
	const uint32_t count = waiting(q), first = q->first->index;
	const bool has_natives = q->natives > 0;

	for (uint32_t i = first; i < q->next->index; i++) {
		if (&slot_at(q, i)->wr == bad_wr)
			q->first = slot_at(q, i);
	}
	for (uint32_t i = first; i < q->first->index; i++)
		q->natives -= is_native(&slot_at(q, i)->wr);
	set_stop(conn);
	if (is_full_of_failed(q, err))
		return RPMA_FAIL_CONSTANT(RPMA_E_AGAIN, full);
	if (has_natives)
		RPMA_LOG_ERRNO(err, "ibv_wr_complete() of %u operations", count);
	else
		RPMA_LOG_ERROR("%u of %u operations were not posted", waiting(q), count);
	return rpma_post_send_failed(&q->first->wr, err);
}

static __always_inline int post_all(struct rpma_conn *conn, struct rpma_slot *last)
{
	struct rpma_sendq *q = &conn->sendq;
	struct ibv_send_wr *bad_wr = NULL;
	int err;

	last->wr.next = NULL;
	if (__builtin_expect(q->natives > 0, 0))
		err = rpma_sendq_post_natively(conn->qpx, &q->first->wr, &bad_wr);
	else
		err = ibv_post_send(conn->qp, &q->first->wr, &bad_wr);
	last->wr.next = &q->next->wr;
	if (__builtin_expect(err != 0, 0))
		return not_posted(conn, bad_wr, err);

	q->base += q->next->index;
	q->first = q->next = (struct rpma_slot *)(void *)q->slots;
	q->natives = 0;
	if (__builtin_expect(q->every > 0, 0)) {
		set_stop(conn);
		return 0;
	}
	q->stop = q->batch_end;
	q->plain_flags = RPMA_F_COMPLETION_ALWAYS;
	return 0;
}

int rpma_sendq_submit(struct rpma_conn *conn)
{
	const struct rpma_sendq *q = &conn->sendq;

	if (q->next == q->first)
		return 0;
	return post_all(conn, slot_at(q, q->next->index - 1));
}

/* Makes slots, and room in the queue, for count operations. */
static int make_room(struct rpma_conn *conn, uint32_t count)
{
	struct rpma_sendq *q = &conn->sendq;

	if (__builtin_expect(free_room(q) < count, 0))
		return is_full(conn);
	forget_refusal(q);
	if (q->next->index + count > q->slots_count)
		return rpma_sendq_submit(conn);
	return 0;
}

int rpma_sendq_reserve(struct rpma_conn *conn, uint32_t count, uint32_t *mark)
{
	if (conn->sendq.slots == NULL) {
		RPMA_LOG_ERROR("the connection is not established yet");
		return RPMA_E_PROVIDER;
	}
	if (conn->sendq.size < count) {
		RPMA_LOG_ERROR("the send queue has %u slots, and %u are needed at once",
			       conn->sendq.size, count);
		return RPMA_E_INVAL;
	}
	int ret = make_room(conn, count);
	*mark = position(&conn->sendq);
	return ret;
}

static void keep_bytes(const struct rpma_sendq *q, struct rpma_slot *slot)
{
	unsigned char *data = (unsigned char *)&slot->sge[q->max_sge];

	for (int i = 0; i < slot->wr.num_sge; i++) {
		struct ibv_sge *sge = &slot->sge[i];

		memcpy(data, (const void *)(uintptr_t)sge->addr, sge->length);
		sge->addr = (uintptr_t)data;
		data += sge->length;
	}
}

/* The next slot. What wr points to ends with the call. */
static struct rpma_slot *fill(struct rpma_sendq *q, const struct ibv_send_wr *wr, bool may_wait)
{
	struct rpma_slot *slot = q->next;
	struct ibv_send_wr *next = slot->wr.next;

	slot->wr = *wr;
	slot->wr.next = next;
	slot->wr.sg_list = slot->sge;
	for (int i = 0; i < wr->num_sge; i++)
		slot->sge[i] = wr->sg_list[i];
	if (may_wait && (wr->send_flags & IBV_SEND_INLINE))
		keep_bytes(q, slot);
	q->natives += is_native(wr);
	if (q->every > 0)
		count_operation(q, &slot->wr);
	return slot;
}

static bool waits(const struct rpma_sendq *q, int flags)
{
	return (flags & RPMA_F_MORE) && ((flags & RPMA_F_PART) || waiting(q) < q->batch);
}

int rpma_sendq_add(struct rpma_conn *conn, struct rpma_slot *slot, int flags)
{
	struct rpma_sendq *q = &conn->sendq;

	rpma_sendq_keep(q, slot);
	if (waits(q, flags)) {
		if (q->every > 0)
			set_stop(conn);
		return 0;
	}
	int ret = post_all(conn, slot);
	if (__builtin_expect(ret != 0, 0))
		rpma_sendq_withdraw(conn, position(q) - 1);
	return ret;
}

/* Nothing waits, and operations are counted: it needs no slot. Apart as the next one is. */
static RPMA_APART int post_single(struct rpma_conn *conn, struct ibv_send_wr *wr)
{
	struct rpma_sendq *q = &conn->sendq;
	struct ibv_send_wr *bad_wr = wr;

	if (__builtin_expect(free_room(q) == 0, 0))
		return is_full(conn);
	forget_refusal(q);
	count_operation(q, wr);
	int err = ibv_post_send(conn->qp, wr, &bad_wr);
	if (__builtin_expect(err != 0, 0)) {
		rpma_sendq_withdraw(conn, position(q));
		if (is_full_of_failed(q, err))
			return RPMA_FAIL_CONSTANT(RPMA_E_AGAIN, full);
		return rpma_post_send_failed(wr, err);
	}
	q->base++;
	q->stop = q->next; /* one position further, so it has to be set again */
	return 0;
}

/* apart, so that the others save no registers for it */
static RPMA_APART int post_listed(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags)
{
	struct rpma_sendq *q = &conn->sendq;

	int ret = make_room(conn, 1);
	if (ret == 0 && is_native(wr) && !q->lists_natively) {
		ret = rpma_sendq_submit(conn); /* the others need a doorbell of their own */
		flags &= ~(RPMA_F_MORE | RPMA_F_PART);
	}
	if (ret)
		return ret;
	return rpma_sendq_add(conn, fill(q, wr, flags & RPMA_F_MORE), flags);
}

int rpma_sendq_post(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags)
{
	const struct rpma_sendq *q = &conn->sendq;

	if (q->slots == NULL) /* rpma_conn_connect() has not established it yet */
		return rpma_post_send_failed(wr, ENOTCONN);
	if (rpma_posts_at_once(conn, flags))
		return rpma_post_now(conn, wr);
	if (!(flags & RPMA_F_MORE) && q->next == q->first && !is_native(wr))
		return post_single(conn, wr);
	return post_listed(conn, wr, flags);
}

int rpma_sendq_post_data(struct rpma_conn *conn, struct ibv_send_wr *wr, int flags,
			 const char *function)
{
	const uint32_t most = conn->options[RPMA_CONN_OPT_INLINE_SIZE];
	size_t len = 0;

	wr->send_flags |= (unsigned)(flags & RPMA_F_DATA) >> RPMA_F_SHIFT;
	for (int i = 0; i < wr->num_sge; i++)
		len += wr->sg_list[i].length;
	if ((flags & RPMA_F_INLINE) && len > most)
		return rpma_inline_refused(function, len, most);
	return rpma_sendq_post(conn, wr, flags);
}

/* --- completions ------------------------------------------------------------------------------ */

/* An operation succeeded. True: the program asked for its completion. */
static bool leave(struct rpma_sendq *q)
{
	const uint32_t tail = atomic_load_explicit(&q->ring_tail, memory_order_relaxed);
	if (tail == atomic_load_explicit(&q->ring_published, memory_order_acquire))
		return true;
	const struct rpma_signalled signalled = q->ring[tail & q->ring_mask];

	atomic_store_explicit(&q->ring_tail, tail + 1, memory_order_relaxed);
	atomic_store_explicit(&q->done, signalled.position + 1, memory_order_release);
	return !signalled.hidden;
}

/*
 * From the first one on each operation leaves a completion. Those of receives cannot be told apart:
 * they free room too, and so an entry of the CQ at least.
 */
static void leave_failed(struct rpma_sendq *q)
{
	const uint32_t done = atomic_load_explicit(&q->done, memory_order_relaxed);

	atomic_store_explicit(&q->is_broken, true, memory_order_relaxed);
	atomic_store_explicit(&q->done, done + 1, memory_order_release);
}

static void leave_receive(struct rpma_sendq *q)
{
	if (q->receives_max > 0)
		atomic_fetch_sub_explicit(&q->receives, 1, memory_order_relaxed);
}

bool rpma_sendq_take_receive(struct rpma_sendq *q)
{
	if (atomic_fetch_add_explicit(&q->receives, 1, memory_order_relaxed) < q->receives_max)
		return true;
	leave_receive(q);
	return false;
}

/* Only who posts knows whether more is to come, so another thread is told nothing. */
enum rpma_prospect rpma_sendq_prospect(struct rpma_sendq *q)
{
	if (atomic_load_explicit(&q->is_refused, memory_order_acquire) &&
	    atomic_load_explicit(&q->done, memory_order_relaxed) !=
		    atomic_load_explicit(&q->refused_at, memory_order_relaxed)) {
		atomic_store_explicit(&q->is_refused, false, memory_order_relaxed);
		return RPMA_PROSPECT_ROOM;
	}
	if (atomic_load_explicit(&q->poster, memory_order_relaxed) != this_thread() || q->has_srq ||
	    atomic_load_explicit(&q->receives, memory_order_relaxed) > 0 || is_broken(q) ||
	    atomic_load_explicit(&q->ring_tail, memory_order_relaxed) !=
		    atomic_load_explicit(&q->ring_published, memory_order_relaxed))
		return RPMA_PROSPECT_OPEN;
	return waiting(q) > 0 ? RPMA_PROSPECT_WAITING : RPMA_PROSPECT_NONE;
}

int rpma_sendq_fetched(struct rpma_sendq *q, struct ibv_wc *wc, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++) {
		bool is_asked = true;

		if (wc[i].status != IBV_WC_SUCCESS)
			leave_failed(q);
		else if (wc[i].opcode & IBV_WC_RECV)
			leave_receive(q);
		else
			is_asked = leave(q);
		if (!is_asked)
			continue;
		if (kept != i)
			wc[kept] = wc[i];
		kept++;
	}
	return kept;
}
