/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq.c -- posting, executing and completing send work requests; see sq.h.
 *
 * Everything here runs under sq.lock, which is private to the process. It is never taken while the
 * lock of a shared QP is held (README.md), so two queues that send to each other cannot block each
 * other.
 */
#include "sq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "completion.h"
#include "explain.h"
#include "mr_check.h"
#include "responder.h"
#include "soft_device/check/check.h"
#include "soft_device/check/sum.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "soft_device/process/trace.h"
#include "sq_adversary.h"
#include "sq_check.h"
#include "sq_ud.h"
#include "sq_watch.h"
#include "window.h"

#define PEER_GRACE_NS 300000000u

_Atomic uint32_t sq_released[SEGMENT_QPS];

/* --- completing --- */

/* Inlined, so that the way without a trace knows nothing of it. */
static inline __attribute__((always_inline)) void push(struct send_queue *sq,
						       const struct send_work *work,
						       uint32_t record, enum ibv_wc_status status,
						       enum vendor_err why)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	struct shared_cqe cqe = {
		.wr_id = work->wr_id,
		.status = status,
		.opcode = opcode->wc,
		.byte_len = opcode->eight ? 8 : (uint32_t)sq_length(work),
		.imm_data = record, /* sends have none: trace_polled() */
		.qp_num = sq->qpn,
		.solicited = status != IBV_WC_SUCCESS,
		/* which QP's slots, and how many: sq_release() */
		.sq_release = sq->index << 16 | (sq->completed & 0xffff),
		.is_send = 1,
	};

	if (status != IBV_WC_SUCCESS)
		cqe.vendor_err = why;
	if (!completion_push(process_current->self, sq->cq, &cqe))
		responder_fail(process_current->self, sq->shared, sq->generation, RAISE_QP_FATAL);
}

static inline __attribute__((always_inline)) void
complete_recorded(struct send_queue *sq, const struct send_work *work, uint32_t record,
		  enum ibv_wc_status status, enum vendor_err why)
{
	sq->completed++;
	if ((int32_t)(sq->next - sq->completed) < 0)
		sq->next = sq->completed;
	if (status != IBV_WC_SUCCESS || sq->sig_all || (work->flags & IBV_SEND_SIGNALED))
		push(sq, work, record, status, why);
}

/* The oldest request is done with, and all was well. */
static inline __attribute__((always_inline)) void complete(struct send_queue *sq,
							   const struct send_work *work)
{
	complete_recorded(sq, work, 0, IBV_WC_SUCCESS, VENDOR_NONE);
}

/* The same, when it is in a slot. */
static void complete_slot(struct send_queue *sq, enum ibv_wc_status status, enum vendor_err why)
{
	const struct send_slot *slot = sq_slot(sq, sq->completed);

	if (slot->record != 0)
		trace_done(slot->record, status);
	complete_recorded(sq, &slot->work, slot->record, status, why);
}

void sq_flush(struct send_queue *sq)
{
	if (check_any && sq->completed != sq->posted)
		sq_check_broken(sq);
	while (sq->completed != sq->posted)
		complete_slot(sq, IBV_WC_WR_FLUSH_ERR, VENDOR_FLUSHED);
}

void sq_fail(struct send_queue *sq, enum ibv_wc_status status, enum vendor_err why)
{
	if (sq->completed != sq->posted) {
		if (check_any)
			sq_check_broken(sq);
		explain_request(sq, &sq_slot(sq, sq->completed)->work, status, why);
		complete_slot(sq, status, why);
	}
	responder_fail(process_current->self, sq->shared, sq->generation, 0);
	sq_flush(sq);
}

/* --- executing --- */

/*
 * The target of the requests; NULL when there is no such QP. One with another framing is not kept:
 * the short ways do not compare it.
 */
static struct shared_qp *target_of(struct send_queue *sq)
{
	struct shared_qp *target = sq->target;
	const uint32_t qpn = sq->path.qpn;

	if (target != NULL && atomic_load_explicit(&target->qpn, memory_order_relaxed) == qpn)
		return target;
	target = segment_qp(sq->peer->segment, &sq->path.gid, qpn);
	if (target != NULL &&
	    atomic_load_explicit(&target->framing, memory_order_relaxed) == sq->path.framing)
		sq->target = target;
	else
		sq->target = NULL;
	return target;
}

/*
 * Inlined, as is what it calls as far as that goes: a system call at the bottom overwrites the
 * processor's stack of return addresses, so each level above it costs a misprediction.
 */
static inline __attribute__((always_inline)) struct outcome execute(struct send_queue *sq,
								    struct send_work *work)
{
	struct shared_qp *target = target_of(sq);
	struct outcome outcome;
	enum ibv_wc_status own; /* what is wrong with the local memory */
	struct local_memory local;
	void *copy = NULL;

	if (__builtin_expect(sq_is_local(work), 0))
		return window_execute(sq, work);
	own = sq_make_request(sq, work, &local);
	if (!sq_goes_out(work, own))
		return outcome_failed(own, sq_request_reason(sq, work, own));
	if (target == NULL)
		return outcome_absent(VENDOR_NO_QP);
	if (__builtin_expect(fault_any, 0))
		copy = sq_fault_corrupt_out(work, &local);
	outcome = responder_execute_on(sq->peer, target, sq->path.qpn, &work->request, &local);
	if (outcome.kind == OUTCOME_DONE && outcome.status == IBV_WC_SUCCESS &&
	    sq_opcodes[work->opcode].kind == SOFT_OP_ATOMIC)
		sq_finish_atomic(sq, work, own, &local, &outcome);
	if (__builtin_expect(fault_any, 0)) {
		free(copy);
		if (outcome.kind == OUTCOME_DONE && outcome.status == IBV_WC_SUCCESS)
			sq_fault_corrupt_in(work, &local);
	}
	return outcome;
}

bool sq_settle(struct send_queue *sq, struct send_slot *slot, const struct outcome *outcome)
{
	struct outcome unacknowledged;
	enum ibv_wc_status status;

	if (sq->unacknowledged) {
		unacknowledged = sq_unacknowledged(sq, slot, outcome);
		outcome = &unacknowledged;
	}
	status = outcome->kind == OUTCOME_DONE ? outcome->status : sq_retry(sq, slot, outcome);
	if (status != IBV_WC_SUCCESS) {
		sq_fail(sq, status, outcome->vendor_err);
		return false;
	}
	if (outcome->kind == OUTCOME_DONE) {
		complete_slot(sq, status, VENDOR_NONE);
		return true;
	}
	sq->next = sq->completed;
	sq_wait_until(sq, slot->due_ns);
	return false;
}

/* --- running --- */

/* Several at once. False: they are to be run one by one. */
static bool run_writes(struct send_queue *sq)
{
	const unsigned count = sq_move_writes(sq);

	for (unsigned i = 0; i < count; i++)
		complete_slot(sq, IBV_WC_SUCCESS, VENDOR_NONE);
	return count > 0;
}

/* The bytes of a plain write or read, if all is well; see execute_at_once(). */
static inline __attribute__((always_inline)) bool move_at_once(struct send_queue *sq, uint32_t rkey,
							       uint64_t remote_addr,
							       struct iovec local, bool reads)
{
	const uint32_t access = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	struct iovec remote = {NULL, local.iov_len};
	struct shared_qp *target = sq->target;
	struct peer *peer = sq->peer;
	int error = -EFAULT;
	uint64_t there;

	if (!shared_lock_take_soon(&target->lock))
		return false;
	if (responder_knows(target, sq->path.qpn, sq->qpn, &sq->gid) &&
	    shared_qp_state(target, memory_order_relaxed) == IBV_QPS_RTS &&
	    (target->access & access) && (!reads || target->max_dest_rd_atomic != 0) &&
	    mr_check_quick(peer->segment, rkey, target->pd, remote_addr, local.iov_len, access,
			   &there) != NULL) {
		remote.iov_base = (void *)(uintptr_t)there;
		error = reads ? target_memory_read(peer->memory, &local, 1, &remote, 1)
			      : target_memory_write_ordered(peer->memory, &local, 1, there,
							    local.iov_len);
	}
	shared_lock_release(&target->lock);
	return error == 0;
}

/* The short way, with checks alone: as execute_at_once(), of what is in a slot. */
static bool run_at_once(struct send_queue *sq, const struct send_slot *slot)
{
	const struct send_work *work = &slot->work;
	const struct ibv_sge *sge = slot->sge;
	const struct sq_post *post = sq_post_at(sq, sq->next);
	const bool reads = work->opcode == IBV_WR_RDMA_READ;
	struct iovec local = {NULL, sge->length};
	uint64_t memory = sge->addr;

	if ((work->opcode != IBV_WR_RDMA_WRITE && !reads) || work->num_sge != 1 ||
	    sge->length == 0 || sge->length > SOFT_MAX_MESSAGE || fault_more || post == NULL ||
	    sq->target == NULL || sq->peer->transport == PEER_TCP ||
	    sq->peer->segment->powerfail != 0 || (reads && sq->path.max_rd_atomic == 0))
		return false;
	if ((work->flags & IBV_SEND_INLINE) == 0 &&
	    mr_check_quick(process_current->segment, sge->lkey, sq->pd, sge->addr, sge->length,
			   reads ? IBV_ACCESS_LOCAL_WRITE : 0, &memory) == NULL)
		return false;
	local.iov_base = (void *)(uintptr_t)memory;
	if (!move_at_once(sq, work->request.rkey, work->request.remote_addr, local, reads))
		return false;
	if (post->has_sum && check_sum(local.iov_base, sge->length) != post->sum)
		sq_source_tell(sq, work, post->stack);
	complete_slot(sq, IBV_WC_SUCCESS, VENDOR_NONE);
	return true;
}

/* True: it was executed. */
static __attribute__((noinline)) bool run_checked(struct send_queue *sq,
						  const struct send_slot *slot)
{
	if (run_at_once(sq, slot))
		return true;
	sq_check_source(sq, sq->next);
	return false;
}

/* False: it has to wait, or the QP has failed. */
static bool run_next(struct send_queue *sq)
{
	struct send_slot *slot = sq_slot(sq, sq->next);
	const uint32_t completed = sq->completed;
	struct outcome outcome;

	if (slot->due_ns != 0 && process_now_ns() < slot->due_ns) {
		sq_wait_until(sq, slot->due_ns);
		return false;
	}
	if (__builtin_expect(fault_any, 0)) {
		if (!(fault_more ? sq_fault_passes(sq, slot) : sq_check_passes(sq, slot)))
			return sq->completed != completed;
		if (check_any && !sq_is_local(&slot->work) && run_checked(sq, slot))
			return true;
	}
	if (sq->ud != NULL)
		return sq_ud_send(sq, slot);
	if (sq->peer->transport == PEER_TCP)
		return sq_tcp_send(sq, slot);
	if (sq->posted - sq->next > 1 && run_writes(sq))
		return true;
	outcome = execute(sq, &slot->work);
	return sq_settle(sq, slot, &outcome);
}

/*
 * When the peer is gone the QP fails; an idle one only after a while, and one
 * whose peer's own connection has ended, but not ours: what it answered before may still come.
 */
static void fail_if_lost(struct send_queue *sq)
{
	enum ibv_qp_state state = sq_state(sq);
	bool peer_gone =
		sq->unreachable ||
		(sq->peer != NULL && atomic_load_explicit(&sq->peer->gone, memory_order_relaxed));

	if (state < IBV_QPS_RTR || state > IBV_QPS_SQE || (!peer_gone && sq->lost_ns == 0))
		return;
	if (adversary_any)
		sq_adversary_settle(sq);
	if (sq->unacknowledged) {
		sq_lose_all(sq);
		return;
	}
	if ((peer_gone && sq->completed != sq->posted) ||
	    (sq->lost_ns != 0 && process_now_ns() >= sq->lost_ns))
		sq_fail(sq, IBV_WC_RETRY_EXC_ERR,
			sq->unreachable ? VENDOR_UNREACHABLE : VENDOR_PEER_GONE);
	else if (sq->lost_ns != 0)
		sq_wait_until(sq, sq->lost_ns);
}

void sq_run_locked(struct send_queue *sq)
{
	fail_if_lost(sq);
	while ((sq->peer != NULL || sq->ud != NULL) && sq->next != sq->posted &&
	       sq_state(sq) == IBV_QPS_RTS && run_next(sq))
		;
	if (sq_state(sq) == IBV_QPS_ERR) {
		if (adversary_any)
			sq_adversary_settle(sq);
		sq_flush(sq);
	}
}

void sq_run(struct send_queue *sq)
{
	shared_lock_take(&sq->lock);
	sq_run_locked(sq);
	shared_lock_release(&sq->lock);
}

void sq_peer_gone(struct send_queue *sq)
{
	sq->lost_ns = process_now_ns() + PEER_GRACE_NS;
	sq_run_locked(sq);
}

/* --- posting --- */

/* Keeps the request in the next slot. */
static struct send_slot *keep(struct send_queue *sq, const struct send_work *work)
{
	struct send_slot *slot = sq_slot(sq, sq->posted);
	unsigned char *data = sq_slot_data(sq, slot);
	uint32_t bytes = 0;

	*slot = (struct send_slot){.work = *work};
	slot->work.sge = slot->sge;
	if (work->flags & IBV_SEND_INLINE) {
		for (uint32_t i = 0; i < work->num_sge; i++) {
			memcpy(data + bytes, (void *)(uintptr_t)work->sge[i].addr,
			       work->sge[i].length);
			bytes += work->sge[i].length;
		}
		slot->sge[0] = (struct ibv_sge){(uintptr_t)data, bytes, 0};
		slot->work.num_sge = 1;
	} else if (work->num_sge != 0) {
		memcpy(slot->sge, work->sge, work->num_sge * sizeof(slot->sge[0]));
	}
	if (__builtin_expect(fault_any, 0))
		sq_fault_posted(sq, slot);
	sq->posted++;
	return slot;
}

/* A write, or a read, of one piece, as most requests are. */
static inline bool is_plain(const struct send_queue *sq, const struct ibv_send_wr *wr, bool reads)
{
	const unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;

	return wr->opcode == (reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE) && wr->num_sge == 1 &&
	       (wr->send_flags & ~flags) == 0 && sq->max_sge != 0 && sq->ud == NULL &&
	       (!reads || (sq->opcodes >> IBV_WR_RDMA_READ & 1) != 0);
}

static inline void put_plain(struct send_slot *slot, const struct ibv_send_wr *wr)
{
	*slot = (struct send_slot){.work = {.wr_id = wr->wr_id,
					    .opcode = wr->opcode,
					    .flags = wr->send_flags,
					    .num_sge = 1,
					    .sge = slot->sge,
					    .request = {.rkey = wr->wr.rdma.rkey,
							.remote_addr = wr->wr.rdma.remote_addr}}};
	slot->sge[0] = wr->sg_list[0];
}

/* True if a request posted now may be executed now. */
static inline __attribute__((always_inline)) bool may_execute(const struct send_queue *sq)
{
	return sq->next == sq->posted && sq->peer != NULL && sq->peer->transport != PEER_TCP &&
	       !fault_any && sq_state(sq) == IBV_QPS_RTS &&
	       !atomic_load_explicit(&sq->peer->gone, memory_order_relaxed);
}

/* The same of one that checks do not hold. */
static inline __attribute__((always_inline)) bool may_execute_checked(const struct send_queue *sq)
{
	return sq->next == sq->posted && sq->peer != NULL && sq->peer->transport != PEER_TCP &&
	       sq_state(sq) == IBV_QPS_RTS &&
	       !atomic_load_explicit(&sq->peer->gone, memory_order_relaxed);
}

static void submit(struct send_queue *sq, struct send_work *work)
{
	if (!may_execute(sq)) {
		keep(sq, work);
		return;
	}
	struct outcome outcome = execute(sq, work);

	if (outcome.kind == OUTCOME_DONE && outcome.status == IBV_WC_SUCCESS) {
		sq->posted++;
		complete(sq, work);
		return;
	}
	sq_settle(sq, keep(sq, work), &outcome);
}

/*
 * The short way of what the device is mostly asked for: a write or a read of one piece, with a
 * connected target. It knows no errors: with anything unusual it returns false, and the long way
 * finds out what to do. It may have moved bytes by then; the same ones are moved again.
 */
static inline __attribute__((always_inline)) bool
execute_at_once(struct send_queue *sq, const struct ibv_send_wr *wr, bool reads, bool is_checked)
{
	const unsigned flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	const uint32_t opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
	const struct ibv_sge *sge = wr->sg_list;
	uint64_t memory;

	if (wr->num_sge != 1 || (wr->send_flags & ~flags) != 0 || sge->length == 0 ||
	    sge->length > SOFT_MAX_MESSAGE || sq->max_sge == 0 ||
	    !(is_checked ? may_execute_checked(sq) : may_execute(sq)) ||
	    (reads &&
	     ((sq->opcodes >> IBV_WR_RDMA_READ & 1) == 0 || sq->path.max_rd_atomic == 0)) ||
	    sq->target == NULL || sq->peer->segment->powerfail != 0 ||
	    mr_check_quick(process_current->segment,
			   is_checked ? sge->lkey & ~CHECK_LKEY : sge->lkey, sq->pd, sge->addr,
			   sge->length, reads ? IBV_ACCESS_LOCAL_WRITE : 0, &memory) == NULL ||
	    !move_at_once(sq, wr->wr.rdma.rkey, wr->wr.rdma.remote_addr,
			  (struct iovec){(void *)(uintptr_t)memory, sge->length}, reads))
		return false;
	sq->posted++;
	complete(sq,
		 &(struct send_work){wr->wr_id, opcode, wr->send_flags, .num_sge = 1, .sge = sge});
	return true;
}

/* A function of its own, so that a write stays as short as it is. */
static __attribute__((noinline)) bool read_at_once(struct send_queue *sq,
						   const struct ibv_send_wr *wr)
{
	return execute_at_once(sq, wr, true, false);
}

/* The long way, of all that execute_at_once() does not do. */
static __attribute__((noinline)) int post_any(struct send_queue *sq, const struct ibv_send_wr *wr)
{
	struct send_work work;
	int error = sq_take_work(sq, wr, &work);

	if (error == 0)
		submit(sq, &work);
	return error;
}

static inline int post_one(struct send_queue *sq, const struct ibv_send_wr *wr)
{
	if (!sq_has_room(sq, 1))
		return sq_refuse_full(sq);
	if (wr->opcode == IBV_WR_RDMA_WRITE && execute_at_once(sq, wr, false, false))
		return 0;
	if (wr->opcode == IBV_WR_RDMA_READ && read_at_once(sq, wr))
		return 0;
	return post_any(sq, wr);
}

/* Small writes follow each other from here on: it is worth to collect them. */
static bool begins_run(const struct ibv_send_wr *wr)
{
	const struct ibv_send_wr *next = wr->next;

	return next != NULL && wr->opcode == IBV_WR_RDMA_WRITE &&
	       next->opcode == IBV_WR_RDMA_WRITE && wr->num_sge == 1 &&
	       wr->sg_list->length <= SQ_SMALL_BYTES;
}

/* Keeps one, and so all behind it: what is kept is run when all of the list is posted. */
static __attribute__((noinline)) int collect(struct send_queue *sq, const struct ibv_send_wr *wr)
{
	struct send_work work;
	int error = sq_has_room(sq, 1) ? sq_take_work(sq, wr, &work) : sq_refuse_full(sq);

	if (error == 0)
		keep(sq, &work);
	return error;
}

/* Used with checks: executes at once if none of them holds the request, or keeps it. */
static inline __attribute__((always_inline)) int
post_plain(struct send_queue *sq, const struct ibv_send_wr *wr, bool reads)
{
	struct send_slot *slot = sq_slot(sq, sq->posted);
	bool is_held;

	if (fault_more || !sq_has_room(sq, 1) || !is_plain(sq, wr, reads))
		return collect(sq, wr);
	is_held = sq_check_post(sq, wr->wr_id, wr->sg_list, wr->wr.rdma.remote_addr);
	if (!is_held && execute_at_once(sq, wr, reads, true)) {
		/* what findings read of requests that are done: of reads the key, too */
		if (reads)
			put_plain(slot, wr);
		slot->work.opcode = wr->opcode;
		slot->work.flags = wr->send_flags;
		slot->sge[0].lkey &= ~CHECK_LKEY;
		return 0;
	}
	put_plain(slot, wr);
	sq_check_kept(sq, slot, is_held);
	sq->posted++;
	return 0;
}

static __attribute__((noinline)) int post_read_checked(struct send_queue *sq,
						       const struct ibv_send_wr *wr)
{
	return post_plain(sq, wr, true);
}

static inline int post_checked(struct send_queue *sq, const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_RDMA_READ ? post_read_checked(sq, wr)
					      : post_plain(sq, wr, false);
}

/* Another thread builds requests in the free slots; callers hold sq.lock. */
static __attribute__((noinline)) void await_build(struct send_queue *sq)
{
	shared_lock_release(&sq->lock);
	pthread_mutex_lock(&sq->build);
	pthread_mutex_unlock(&sq->build);
	shared_lock_take(&sq->lock);
}

static inline __attribute__((always_inline)) int post(struct send_queue *sq, struct ibv_send_wr *wr,
						      struct ibv_send_wr **bad_wr, bool is_checked)
{
	int error = 0;

	shared_lock_take(&sq->lock);
	while (__builtin_expect(sq->in_build, 0))
		await_build(sq);
	if (sq_state(sq) < IBV_QPS_RTS)
		error = sq_refuse_state(sq);
	while (wr != NULL && error == 0) {
		error = is_checked ? post_checked(sq, wr) : post_one(sq, wr);
		if (error == 0)
			wr = wr->next;
		if (!is_checked && error == 0 && wr != NULL && begins_run(wr)) {
			error = collect(sq, wr);
			if (error == 0)
				wr = wr->next;
		}
	}
	if (sq->next != sq->posted && !(is_checked && sq_check_holds(sq)))
		sq_run_locked(sq);
	shared_lock_release(&sq->lock);
	if (error != 0)
		*bad_wr = wr;
	return error;
}

int sq_post(struct send_queue *sq, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post(sq, wr, bad_wr, false);
}

int sq_post_checked(struct send_queue *sq, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	if (__builtin_expect(sq_check_is_in_part(sq), 0))
		sq_check_list(sq, wr);
	return post(sq, wr, bad_wr, true);
}
