/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_link.c -- queue pairs and the processes at their other ends: the link, what the transport
 * tells of it, and what peers have them raise.
 *
 * A thread that finds a QP by its number or its peer holds the objects lock all
 * the while, as destroying takes it out of the tables first.
 */
#include <errno.h>

#include "held.h"
#include "objects.h"
#include "qp.h"
#include "soft_device/datapath/explain.h"
#include "soft_device/datapath/responder.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/datapath/sq_ud.h"
#include "soft_device/process/process.h"

/*
 * The process at the other end is gone. When it destroyed its QP before, this one goes on,
 * as with a NIC, and only what it sends will fail.
 */
static void peer_gone(struct qp *qp, const struct peer *peer)
{
	struct segment *segment;

	if (qp->sq.ud != NULL) {
		sq_ud_peer_gone(&qp->sq, peer);
		return;
	}
	segment = qp->sq.peer->segment;
	if (segment == NULL ||
	    segment_qp(segment, &qp->attr.ah_attr.grh.dgid, qp->attr.dest_qp_num) != NULL)
		sq_peer_gone(&qp->sq);
	else
		sq_run_locked(&qp->sq);
}

static void linked(void *arg, struct peer *peer, int error)
{
	struct qp *qp = arg;

	shared_lock_take(&qp->sq.lock);
	qp->sq.peer = peer;
	qp->sq.unreachable = error != 0;
	qp->sq.target = NULL;
	atomic_store(&qp->shared->partner, peer != NULL ? peer->key.identity : 0);
	/* its listener was there before its QPN: the process has ended while we linked */
	if (error == -ECONNREFUSED || error == -ECONNRESET || error == -EPROTO)
		sq_peer_gone(&qp->sq);
	else if (peer != NULL && atomic_load(&peer->gone))
		peer_gone(qp,
			  peer); /* while we linked, when all_peer_gone() did not see this QP yet */
	else
		sq_run_locked(&qp->sq);
	shared_lock_release(&qp->sq.lock);
}

void qp_link(struct qp *qp)
{
	struct peer_wait *wait = peer_link(&qp->context->device->gid, &qp->attr.ah_attr.grh.dgid,
					   (uint16_t)(qp->attr.dest_qp_num >> 8), linked, qp);

	shared_lock_take(&qp->sq.lock);
	qp->wait = wait;
	shared_lock_release(&qp->sq.lock);
}

void qp_unlink(struct qp *qp)
{
	struct peer_wait *wait;
	struct peer *peer;

	if (qp->sq.ud != NULL) {
		sq_ud_unlink(&qp->sq);
		return;
	}
	shared_lock_take(&qp->sq.lock);
	wait = qp->wait;
	qp->wait = NULL;
	shared_lock_release(&qp->sq.lock);
	if (wait != NULL)
		peer_link_cancel(wait);
	shared_lock_take(&qp->sq.lock);
	peer = qp->sq.peer;
	qp->sq.peer = NULL;
	qp->sq.target = NULL;
	qp->sq.unreachable = false;
	atomic_store(&qp->shared->partner, 0);
	shared_lock_release(&qp->sq.lock);
	if (peer != NULL)
		peer_put(peer);
}

/* --- what the transport tells --- */

static bool linking(struct peer *self, const union ibv_gid *gid, uint32_t qpn)
{
	struct shared_qp *target = segment_qp(self->segment, gid, qpn);
	const enum ibv_qp_state state =
		target == NULL ? IBV_QPS_RESET : shared_qp_state(target, memory_order_seq_cst);

	return target != NULL && target->type != IBV_QPT_UD &&
	       (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD) &&
	       atomic_load(&target->partner) == 0;
}

static void answered(uint32_t qpn, const union ibv_gid *gid, uint64_t ticket,
		     const struct outcome *outcome, const void *data, size_t bytes)
{
	struct qp *qp;

	pthread_mutex_lock(&process_objects);
	qp = qp_find(gid, qpn);
	if (qp != NULL) {
		shared_lock_take(&qp->sq.lock);
		sq_answered(&qp->sq, ticket, outcome, data, bytes);
		if (qp->sq.drain_notify && qp->sq.completed == qp->sq.next)
			qp_tell_drained(qp);
		shared_lock_release(&qp->sq.lock);
	}
	pthread_mutex_unlock(&process_objects);
}

/* The QPs of one peer and all of UD, or those with one key, and what is done to each. */
struct partners {
	const struct peer *peer;
	const struct peer_key *key;
	void (*run)(struct qp *qp, const struct peer *peer);
};

static void run_if_partner(struct qp *qp, const void *arg)
{
	const struct partners *of = arg;
	const struct peer *peer;

	shared_lock_take(&qp->sq.lock);
	peer = qp->sq.peer;
	if (qp->sq.ud != NULL
		    ? of->peer != NULL
		    : peer != NULL && (peer == of->peer ||
				       (of->key != NULL && peer_key_equal(&peer->key, of->key))))
		of->run(qp, of->peer);
	shared_lock_release(&qp->sq.lock);
}

static void run_partners(const struct partners *of)
{
	pthread_mutex_lock(&process_objects);
	qp_each(run_if_partner, of);
	pthread_mutex_unlock(&process_objects);
}

static void run_queue(struct qp *qp, const struct peer *unused)
{
	(void)unused;
	sq_run_locked(&qp->sq);
}

static void resume(const struct peer *peer)
{
	run_partners(&(struct partners){.peer = peer, .run = run_queue});
}

static void all_peer_gone(const struct peer *peer)
{
	run_partners(&(struct partners){.peer = peer, .run = peer_gone});
}

static void process_gone(const struct peer_key *key)
{
	process_raise(); /* it may have been killed before it kicked the agent */
	run_partners(&(struct partners){.key = key, .run = peer_gone});
	cq_peer_gone();
}

const struct peer_user qp_peer_user = {
	.linking = linking,
	.execute = responder_execute_for,
	.answered = answered,
	.resume = resume,
	.peer_gone = all_peer_gone,
	.process_gone = process_gone,
};

/* --- what peers have them raise --- */

void qp_tell_drained(struct qp *qp)
{
	qp->sq.drain_notify = false;
	async_raise(qp->context, IBV_EVENT_SQ_DRAINED, &qp->ibv);
}

static void raise_events(struct qp *qp, uint32_t bits)
{
	static const struct {
		uint32_t bit;
		enum ibv_event_type event;
	} events[] = {
		{RAISE_QP_COMM_EST, IBV_EVENT_COMM_EST},
		{RAISE_QP_ACCESS, IBV_EVENT_QP_ACCESS_ERR},
		{RAISE_QP_REQUEST, IBV_EVENT_QP_REQ_ERR},
		{RAISE_QP_FATAL, IBV_EVENT_QP_FATAL},
	};

	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (bits & events[i].bit)
			async_raise(qp->context, events[i].event, &qp->ibv);
	if ((bits & RAISE_QP_FLUSH) && qp->srq != NULL)
		async_raise(qp->context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->ibv);
}

/* A peer writes it with the lock held. */
static void explain(struct qp *qp)
{
	struct shared_refusal refusal = {0};

	if (!shared_lock_take_soon(&qp->shared->lock))
		return;
	refusal = qp->shared->refusal;
	qp->shared->refusal.why = VENDOR_NONE;
	shared_lock_release(&qp->shared->lock);
	if (check_any)
		sq_check_refusal(qp->shared, &refusal);
	explain_refusal(qp->ibv.qp_num, &refusal);
}

static void raise_one(struct qp *qp, const void *unused)
{
	uint32_t bits;

	(void)unused;
	if ((uint16_t)atomic_load_explicit(&qp->shared->raise, memory_order_relaxed) == 0)
		return;
	bits = (uint16_t)atomic_exchange(&qp->shared->raise, shared_qp_word(qp->sq.generation, 0));
	if ((process_is_verbose || check_any) && (bits & RAISE_QP_FLUSH))
		explain(qp);
	raise_events(qp, bits);
	if (bits & RAISE_QP_FLUSH)
		sq_run(&qp->sq);
	if ((bits & RAISE_QP_RECEIVES) &&
	    !responder_flush_soon(process_current->self, qp->shared)) {
		atomic_fetch_or(&qp->shared->raise, RAISE_QP_RECEIVES);
		held_raise_later();
	}
}

void qp_raise_all(void)
{
	qp_each(raise_one, NULL);
}
