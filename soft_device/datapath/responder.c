/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder.c -- executing one request on the queue pair it targets.
 *
 * The work of a NIC on the far side, done by the process that has the target's segment mapped: the
 * initiator itself, or the target's agent for what came over TCP. The target's
 * shared_qp.lock is held from the first check to the last byte, so that its owner can
 * wait for all executors by taking it. Checks come in the order of IBA 9.7.4 and of rxe_resp.c.
 */
#include "responder.h"

#include <errno.h>
#include <string.h>

#include "completion.h"
#include "mr_check.h"
#include "receive.h"
#include "recv_ring.h"
#include "responder_ud.h"
#include "soft_device/powerfail/powerfail.h"
#include "soft_device/process/target_memory.h"

/* Memory of the target, and the region that holds it. */
struct range {
	const struct shared_mr *mr;
	uint64_t memory;
};

void responder_flush(struct peer *peer, struct shared_qp *qp)
{
	const struct shared_recv *recv;
	struct shared_cqe cqe = {
		.status = IBV_WC_WR_FLUSH_ERR,
		.opcode = IBV_WC_RECV,
		.vendor_err = VENDOR_FLUSHED,
		.qp_num = atomic_load(&qp->qpn),
		.solicited = 1,
	};

	if (qp->srq != SOFT_NONE)
		return;
	while ((recv = recv_ring_peek(peer->segment, &qp->rq)) != NULL) {
		cqe.wr_id = recv->wr_id;
		recv_ring_take(&qp->rq);
		completion_push(peer, qp->recv_cq, &cqe);
	}
}

/* The target to ERR; its lock is held. */
static void target_to_error(struct peer *peer, struct shared_qp *target, uint32_t raise)
{
	const enum ibv_qp_state state = shared_qp_state(target, memory_order_seq_cst);

	if (state < IBV_QPS_RTR || state > IBV_QPS_SQE)
		return;
	shared_qp_set_state(target, IBV_QPS_ERR);
	responder_flush(peer, target);
	peer_raise(peer, &target->raise, raise | RAISE_QP_FLUSH);
}

/*
 * The state alone to ERR, without the lock: the owner may destroy the QP, change its state or make
 * another one in its entry meanwhile. False: it did, or there was nothing to change.
 */
static bool state_to_error(struct shared_qp *qp, uint16_t generation)
{
	uint32_t life = atomic_load(&qp->life);

	do {
		const uint32_t state = (uint16_t)life;

		if (life >> QP_LOW_BITS != generation || state < IBV_QPS_RTR || state > IBV_QPS_SQE)
			return false;
	} while (!atomic_compare_exchange_weak(&qp->life, &life,
					       shared_qp_word(generation, IBV_QPS_ERR)));
	return true;
}

/* For the owner of this QP, not of one that has its entry since. */
static void raise_for(struct peer *peer, struct shared_qp *qp, uint16_t generation, uint32_t bits)
{
	uint32_t raise = atomic_load(&qp->raise);

	do {
		if (raise >> QP_LOW_BITS != generation)
			return;
	} while (!atomic_compare_exchange_weak(&qp->raise, &raise, raise | bits));
	peer_kick(peer);
}

void responder_fail(struct peer *peer, struct shared_qp *qp, uint16_t generation, uint32_t raise)
{
	if (shared_lock_take_soon(&qp->lock)) {
		if (shared_qp_generation(qp) == generation)
			target_to_error(peer, qp, raise);
		shared_lock_release(&qp->lock);
	} else if (state_to_error(qp, generation)) {
		raise_for(peer, qp, generation, raise | RAISE_QP_FLUSH | RAISE_QP_RECEIVES);
	}
}

bool responder_flush_soon(struct peer *peer, struct shared_qp *qp)
{
	if (!shared_lock_take_soon(&qp->lock))
		return false;
	if (shared_qp_state(qp, memory_order_seq_cst) == IBV_QPS_ERR)
		responder_flush(peer, qp);
	shared_lock_release(&qp->lock);
	return true;
}

/* received: NULL, if it is not about a receive. */
static void note_refusal(const struct execution *x, enum vendor_err why,
			 const struct received *received)
{
	const struct request *request = x->request;

	x->target->refusal = (struct shared_refusal){
		.why = why,
		.op = request->op,
		.rkey = request->rkey,
		.length = request->length,
		.remote_addr = request->remote_addr,
		.wr_id = received == NULL ? 0 : received->wr_id,
		.position = received == NULL ? 0 : received->position,
	};
}

static bool is_reliable(const struct execution *x)
{
	return x->target->type == IBV_QPT_RC;
}

/*
 * The request cannot be done: NAK, and the target goes to ERR. That of an unreliable connection
 * drops it and goes on (IBA 9.9.3), unless it cannot go on.
 */
static struct outcome refuse(const struct execution *x, enum ibv_wc_status status,
			     enum vendor_err why, uint32_t raise)
{
	if (!is_reliable(x) && raise != RAISE_QP_FATAL)
		return outcome_failed(status, why);
	note_refusal(x, why, NULL);
	target_to_error(x->peer, x->target, raise);
	return outcome_failed(status, why);
}

/* The same because of a receive, which completes with its own status: what each side gets. */
static struct outcome refuse_receive(const struct execution *x, const struct received *received,
				     enum ibv_wc_status own, enum vendor_err own_why,
				     enum ibv_wc_status status, enum vendor_err why)
{
	receive_complete(x, received, own, own_why);
	note_refusal(x, own_why, received);
	target_to_error(x->peer, x->target, 0);
	return outcome_failed(status, why);
}

static struct outcome not_ready(const struct execution *x)
{
	if (!is_reliable(x) && !receive_may_come(x))
		return outcome_absent(VENDOR_NO_RECEIVE);
	return (struct outcome){.kind = OUTCOME_RNR,
				.rnr_timer = (uint8_t)x->target->rnr_timer,
				.vendor_err = VENDOR_NO_RECEIVE};
}

/*
 * The outcome of moving the bytes. -EFAULT means that some page was not mapped: it is the peer's
 * if all of ours can be read.
 */
static struct outcome moved(const struct execution *x, int error)
{
	if (error == 0)
		return outcome_done();
	if (error != -EFAULT)
		return outcome_failed(IBV_WC_RETRY_EXC_ERR,
				      error == -ESRCH ? VENDOR_PEER_GONE : VENDOR_NO_ACCESS);
	if (!target_memory_is_usable(x->local->parts, x->local->count,
				     x->request->op == REQUEST_READ))
		return outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
	return refuse(x, IBV_WC_REM_ACCESS_ERR, VENDOR_UNMAPPED, RAISE_QP_ACCESS);
}

/* The range that the request names, if its key allows `access` there. */
static bool find_range(const struct execution *x, uint64_t length, uint32_t access,
		       struct range *range)
{
	const struct request *request = x->request;

	range->mr = mr_check(x->peer->segment, request->rkey, x->target->pd, request->remote_addr,
			     length, access, &range->memory);
	if (__builtin_expect(range->mr == NULL, 0))
		range->mr = mr_check_window(x->peer->segment, x->target, request->rkey,
					    request->remote_addr, length, access, &range->memory);
	return range->mr != NULL;
}

/* The same for what find_range() did not find. */
static __attribute__((cold, noinline)) struct outcome refuse_range(const struct execution *x,
								   uint64_t length, uint32_t access)
{
	const struct request *request = x->request;

	return refuse(x, IBV_WC_REM_ACCESS_ERR,
		      mr_reason(x->peer->segment, request->rkey, x->target->pd,
				request->remote_addr, length, access),
		      RAISE_QP_ACCESS);
}

/* The whole region of the key. */
static bool find_region(const struct execution *x, uint32_t access, struct range *range)
{
	const struct segment *segment = x->peer->segment;
	uint32_t key = x->request->rkey, index = key >> 8;

	if (index >= SEGMENT_MRS)
		return false;
	range->mr = mr_check(segment, key, x->target->pd, segment->mr[index].iova, 0, access,
			     &range->memory);
	return range->mr != NULL;
}

static inline __attribute__((always_inline)) struct outcome write_bytes(const struct execution *x)
{
	const struct request *request = x->request;
	const struct local_memory *local = x->local;
	struct range range;

	if (request->length == 0)
		return outcome_done(); /* no key is looked at: IBA 9.7.4.1.5 */
	if (!find_range(x, request->length, IBV_ACCESS_REMOTE_WRITE, &range))
		return refuse_range(x, request->length, IBV_ACCESS_REMOTE_WRITE);
	if (local->receive != NULL)
		return moved(x, local->receive(local->receive_arg, range.memory, request->length));
	powerfail_before_write(x->peer, range.mr, range.memory, request->length, x->qpn);
	return moved(x, target_memory_write_ordered(x->peer->memory, local->parts, local->count,
						    range.memory, request->length));
}

static struct outcome execute_read(const struct execution *x)
{
	const struct request *request = x->request;
	struct range range = {NULL, 0};

	if (x->target->max_dest_rd_atomic == 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_NO_READS, RAISE_QP_REQUEST);
	if (request->length != 0 && !find_range(x, request->length, IBV_ACCESS_REMOTE_READ, &range))
		return refuse_range(x, request->length, IBV_ACCESS_REMOTE_READ);
	powerfail_pushed(x->peer, x->qpn);
	if (request->length == 0)
		return outcome_done();
	struct iovec remote = {(void *)(uintptr_t)range.memory, request->length};

	return moved(x, target_memory_read(x->peer->memory, x->local->parts, x->local->count,
					   &remote, 1));
}

static struct outcome execute_atomic(const struct execution *x)
{
	const struct request *request = x->request;
	struct outcome outcome = outcome_done();
	struct range range;
	int error;

	if (x->target->max_dest_rd_atomic == 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_NO_READS, RAISE_QP_REQUEST);
	if (!find_range(x, 8, IBV_ACCESS_REMOTE_ATOMIC, &range))
		return refuse_range(x, 8, IBV_ACCESS_REMOTE_ATOMIC);
	if (request->remote_addr % 8 != 0 || range.memory % 8 != 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_ALIGNMENT, RAISE_QP_REQUEST);
	powerfail_pushed(x->peer, x->qpn);
	powerfail_before_write(x->peer, range.mr, range.memory, 8, x->qpn);
	if (!shared_lock_take_soon(&x->peer->segment->atomics))
		return outcome_busy();
	if (request->op == REQUEST_COMPARE_SWAP)
		error = target_memory_compare_swap_8(x->peer->memory, range.memory,
						     request->compare_add, request->swap,
						     &outcome.before);
	else
		error = target_memory_fetch_add_8(x->peer->memory, range.memory,
						  request->compare_add, &outcome.before);
	shared_lock_release(&x->peer->segment->atomics);
	return error == 0 ? outcome : moved(x, error);
}

static struct outcome execute_atomic_write(const struct execution *x)
{
	const struct request *request = x->request;
	struct range range;
	int error;

	if (x->target->max_dest_rd_atomic == 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_NO_READS, RAISE_QP_REQUEST);
	if (!find_range(x, 8, IBV_ACCESS_REMOTE_WRITE, &range))
		return refuse_range(x, 8, IBV_ACCESS_REMOTE_WRITE);
	if (request->remote_addr % 8 != 0 || range.memory % 8 != 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_ALIGNMENT, RAISE_QP_REQUEST);
	powerfail_before_write(x->peer, range.mr, range.memory, 8, x->qpn);
	if (!shared_lock_take_soon(&x->peer->segment->atomics))
		return outcome_busy();
	error = target_memory_store_8(x->peer->memory, range.memory, request->swap);
	shared_lock_release(&x->peer->segment->atomics);
	return moved(x, error);
}

static uint32_t flush_access(const struct request *request)
{
	uint32_t access = 0;

	if (request->flush_type & SOFT_FLUSH_GLOBAL)
		access |= SOFT_ACCESS_FLUSH_GLOBAL;
	if (request->flush_type & SOFT_FLUSH_PERSISTENT)
		access |= SOFT_ACCESS_FLUSH_PERSISTENT;
	return access;
}

static struct outcome execute_flush(const struct execution *x)
{
	const struct request *request = x->request;
	bool whole = request->flush_level == SOFT_FLUSH_MR;
	uint32_t access = flush_access(request);
	struct range range;

	if (x->target->max_dest_rd_atomic == 0)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_NO_READS, RAISE_QP_REQUEST);
	if (!(whole ? find_region(x, access, &range)
		    : find_range(x, request->length, access, &range)))
		return refuse_range(x, whole ? 0 : request->length, access);
	powerfail_flush(x->peer, range.memory, whole ? range.mr->length : request->length, x->qpn,
			request->flush_type & SOFT_FLUSH_PERSISTENT);
	return outcome_done();
}

/* For this reason the memory of the receive cannot be used. */
static struct outcome receive_unusable(const struct execution *x, const struct received *received,
				       enum vendor_err why)
{
	return refuse_receive(x, received, IBV_WC_LOC_PROT_ERR, why, IBV_WC_REM_OP_ERR,
			      VENDOR_RECEIVE_MEMORY);
}

static struct outcome deliver(const struct execution *x, const struct received *received)
{
	powerfail_pushed(x->peer, x->qpn);
	if (!receive_complete(x, received, IBV_WC_SUCCESS, VENDOR_NONE))
		return refuse(x, IBV_WC_REM_OP_ERR, VENDOR_CQ_FULL, RAISE_QP_FATAL);
	return outcome_done();
}

static struct outcome execute_send(const struct execution *x)
{
	const struct request *request = x->request;
	struct iovec parts[SOFT_MAX_SGE];
	enum receive_found found;
	struct received received;
	enum vendor_err why;
	unsigned count;
	int error = 0;

	found = receive_next(x, is_reliable(x) ? 0 : request->length, &received);
	if (found == RECEIVE_NONE)
		return not_ready(x);
	if (found == RECEIVE_SHORT)
		return outcome_failed(IBV_WC_REM_INV_REQ_ERR, VENDOR_SHORT_RECEIVE);
	if (receive_room(&received) < request->length)
		return refuse_receive(x, &received, IBV_WC_LOC_LEN_ERR, VENDOR_SHORT_RECEIVE,
				      IBV_WC_REM_INV_REQ_ERR, VENDOR_SHORT_RECEIVE);
	if (!receive_scatter(x, &received, request->length, parts, &count, &why))
		return receive_unusable(x, &received, why);
	if (count != 0)
		error = target_memory_write(x->peer->memory, x->local->parts, x->local->count,
					    parts, count);
	if (error == -EFAULT && !target_memory_is_usable(x->local->parts, x->local->count, false))
		return outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
	if (error == -EFAULT)
		return receive_unusable(x, &received, VENDOR_UNMAPPED);
	if (error != 0)
		return moved(x, error);
	if (request->op == REQUEST_SEND_INV &&
	    !mr_invalidate_window(x->peer->segment, x->target, request->rkey))
		return refuse_receive(x, &received, IBV_WC_REM_INV_REQ_ERR, VENDOR_WINDOW_UNBOUND,
				      IBV_WC_REM_INV_REQ_ERR, VENDOR_WINDOW_UNBOUND);
	return deliver(x, &received);
}

/* The receive is looked for before anything moves; its memory is not touched. */
static struct outcome execute_write_imm(const struct execution *x)
{
	struct received received;

	if (receive_next(x, 0, &received) != RECEIVE_FOUND)
		return not_ready(x);
	struct outcome outcome = write_bytes(x);

	return outcome.status == IBV_WC_SUCCESS ? deliver(x, &received) : outcome;
}

/* The qp_access_flags that each operation needs. */
static uint32_t needed_access(const struct request *request)
{
	switch (request->op) {
	case REQUEST_WRITE:
	case REQUEST_WRITE_IMM:
	case REQUEST_ATOMIC_WRITE:
		return IBV_ACCESS_REMOTE_WRITE;
	case REQUEST_READ:
		return IBV_ACCESS_REMOTE_READ;
	case REQUEST_COMPARE_SWAP:
	case REQUEST_FETCH_ADD:
		return IBV_ACCESS_REMOTE_ATOMIC;
	case REQUEST_FLUSH:
		return flush_access(request);
	default:
		return 0;
	}
}

/*
 * The packets of a longer message are not of the size that the target's path MTU asks for: IBA
 * C9-92, rxe_resp.c. What is one packet at both ends is the same with either MTU.
 */
static bool packets_differ(const struct execution *x)
{
	const uint32_t own = atomic_load_explicit(&x->target->framing, memory_order_relaxed);
	const uint32_t sent = framing_bytes(x->request->framing), taken = framing_bytes(own);

	return sent != taken && x->request->op != REQUEST_FLUSH &&
	       x->request->length > (sent < taken ? sent : taken);
}

/* The answer to a read is what is wrong, and the requester finds it out. */
static __attribute__((cold, noinline)) struct outcome refuse_packets(const struct execution *x)
{
	if (x->request->op == REQUEST_READ)
		return outcome_failed(IBV_WC_BAD_RESP_ERR, VENDOR_MTU);
	return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_MTU, RAISE_QP_REQUEST);
}

static inline __attribute__((always_inline)) struct outcome execute(const struct execution *x)
{
	uint32_t needed = needed_access(x->request);

	if ((x->target->access & needed) != needed)
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_QP_RIGHT, RAISE_QP_REQUEST);
	if (packets_differ(x))
		return refuse_packets(x);
	switch (x->request->op) {
	case REQUEST_WRITE:
		return write_bytes(x);
	case REQUEST_READ:
		return execute_read(x);
	case REQUEST_SEND:
	case REQUEST_SEND_IMM:
	case REQUEST_SEND_INV:
		return execute_send(x);
	case REQUEST_WRITE_IMM:
		return execute_write_imm(x);
	case REQUEST_COMPARE_SWAP:
	case REQUEST_FETCH_ADD:
		return execute_atomic(x);
	case REQUEST_ATOMIC_WRITE:
		return execute_atomic_write(x);
	case REQUEST_FLUSH:
		return execute_flush(x);
	default:
		return refuse(x, IBV_WC_REM_INV_REQ_ERR, VENDOR_NONE, RAISE_QP_REQUEST);
	}
}

/* Packets of RoCE v1 and v2 have different headers: who takes one drops the other. */
static bool is_same_roce(const struct execution *x)
{
	const uint32_t own = atomic_load_explicit(&x->target->framing, memory_order_relaxed);

	return ((own ^ x->request->framing) & FRAMING_ROCE_V1) == 0;
}

/* True if the target takes requests, and of this sender. */
static bool accepts(const struct execution *x)
{
	const enum ibv_qp_state state = shared_qp_state(x->target, memory_order_relaxed);

	return responder_knows(x->target, x->qpn, x->request->src_qpn, &x->request->src_gid) &&
	       is_same_roce(x) &&
	       (state == IBV_QPS_RTS || state == IBV_QPS_RTR || state == IBV_QPS_SQD);
}

/* Why accepts() said no: a QP that was never connected has no other end. */
static struct outcome not_accepted(const struct execution *x)
{
	const enum ibv_qp_state state = shared_qp_state(x->target, memory_order_relaxed);

	if (atomic_load(&x->target->qpn) != x->qpn)
		return outcome_absent(VENDOR_NO_QP);
	if (state < IBV_QPS_RTR || state > IBV_QPS_SQD)
		return outcome_absent(VENDOR_QP_STATE);
	return outcome_absent(is_same_roce(x) ? VENDOR_OTHER_QP : VENDOR_ROCE);
}

static void tell_established(const struct execution *x)
{
	if (x->target->established ||
	    shared_qp_state(x->target, memory_order_relaxed) != IBV_QPS_RTR)
		return;
	x->target->established = 1;
	peer_raise(x->peer, &x->target->raise, RAISE_QP_COMM_EST);
}

struct outcome responder_execute_on(struct peer *peer, struct shared_qp *target, uint32_t qpn,
				    const struct request *request, const struct local_memory *local)
{
	const struct execution x = {peer, target, qpn, request, local};
	struct outcome outcome = outcome_absent(VENDOR_PEER_GONE);

	if (!shared_lock_take_soon(&target->lock))
		return outcome_busy();
	if (!accepts(&x)) {
		outcome = not_accepted(&x);
	} else if (!powerfail_strikes(peer)) {
		tell_established(&x);
		outcome = execute(&x);
	}
	shared_lock_release(&target->lock);
	if (outcome.kind == OUTCOME_DONE && outcome.status == IBV_WC_SUCCESS &&
	    !powerfail_executed(peer))
		return outcome_absent(VENDOR_PEER_GONE);
	return outcome;
}

struct outcome responder_execute_for(struct peer *self, uint64_t identity, const union ibv_gid *gid,
				     uint32_t qpn, const struct request *request,
				     const struct local_memory *local, bool *known)
{
	struct shared_qp *target = segment_qp(self->segment, gid, qpn);
	const uint64_t partner = target == NULL ? 0 : atomic_load(&target->partner);

	if (request_is_datagram(request->op)) {
		*known = true; /* it is for anyone to send */
		return responder_datagram(self, gid, qpn, request, local);
	}
	*known = partner == 0 || partner == identity;
	/* whether there is such a QP at all is told to no other process */
	struct outcome outcome = outcome_absent(VENDOR_NOT_CONNECTED);

	if (target != NULL && partner == identity)
		outcome = responder_execute_on(self, target, qpn, request, local);
	/* the peer tries again */
	return outcome.kind == OUTCOME_BUSY ? outcome_absent(VENDOR_NONE) : outcome;
}
