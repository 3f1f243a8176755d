/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp.c -- queue pairs: making, finding and destroying them, and posting to them.
 *
 * A QP's entry in the segment's table gives its number: 256 entries share a link listener,
 * whose port the number begins with. Entries are used in turn, so that a number comes back
 * late. A thread that finds a QP by its entry or its peer holds the objects lock all the while,
 * as destroying takes it out of the tables first.
 */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "held.h"
#include "objects.h"
#include "qp_check.h"
#include "qp_states.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/recv_ring.h"
#include "soft_device/datapath/responder.h"
#include "soft_device/datapath/sq_adversary.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/datapath/sq_ud.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/agent.h"
#include "soft_device/process/process.h"

#define BLOCK 256u

static struct qp *table[SEGMENT_QPS];	/* objects lock */
static bool kept[SEGMENT_QPS];		/* the entry of a destroyed QP that is not free yet */
static unsigned table_end;		/* no QP has an entry from here on */
static unsigned cursor[SEGMENT_BLOCKS]; /* where to look for a free entry */

/* The tables belong to the parent's segment. */
static void forget(void)
{
	memset(table, 0, sizeof(table));
	memset(kept, 0, sizeof(kept));
	table_end = 0;
	memset(cursor, 0, sizeof(cursor));
}

struct qp *qp_find(const union ibv_gid *gid, uint32_t qpn)
{
	struct segment *segment = process_current->segment;
	struct shared_qp *shared = segment_qp(segment, gid, qpn);

	return shared == NULL ? NULL : table[shared - segment->qp];
}

void qp_each(void (*run)(struct qp *qp, const void *arg), const void *arg)
{
	for (unsigned i = 0; i < table_end; i++)
		if (table[i] != NULL)
			run(table[i], arg);
}

/* --- entries --- */

/* A free entry of the block, with its lock, or -1. A peer may be looking for what was there. */
static int entry_in_block(unsigned block)
{
	for (unsigned i = 0; i < BLOCK; i++) {
		unsigned at = (cursor[block] + i) % BLOCK, entry = block * BLOCK + at;

		if (table[entry] == NULL && !kept[entry] &&
		    shared_lock_take_soon(&process_current->segment->qp[entry].lock)) {
			cursor[block] = at + 1;
			return (int)entry;
		}
	}
	return -1;
}

/* A free entry for a QP of this device, or -errno. */
static int entry_find(const struct device *device)
{
	struct segment *segment = process_current->segment;
	int entry, error;

	for (unsigned block = 0; block < SEGMENT_BLOCKS; block++) {
		if (atomic_load(&segment->block[block].port) == 0 ||
		    memcmp(&segment->block[block].gid, &device->gid, sizeof(device->gid)) != 0)
			continue;
		entry = entry_in_block(block);
		if (entry >= 0)
			return entry;
	}
	for (unsigned block = 0; block < SEGMENT_BLOCKS; block++) {
		if (atomic_load(&segment->block[block].port) != 0)
			continue;
		error = peer_listen(&device->gid, device->scope_id, block);
		return error != 0 ? error : entry_in_block(block);
	}
	return -ENOMEM;
}

/* Releases its lock. */
static void entry_fill(struct qp *qp)
{
	struct segment *segment = process_current->segment;
	struct shared_qp *shared = &segment->qp[qp->index];
	uint32_t port = atomic_load(&segment->block[qp->index / BLOCK].port);

	qp->shared = shared;
	qp->ibv.handle = qp->index;
	qp->ibv.qp_num = port << 8 | qp->index % BLOCK;
	qp->sq.generation = (uint16_t)(shared_qp_generation(shared) + 1);
	atomic_store(&shared->life, shared_qp_word(qp->sq.generation, IBV_QPS_RESET));
	atomic_store(&shared->raise, shared_qp_word(qp->sq.generation, 0));
	shared->pd = qp->pd->number;
	shared->type = qp->ibv.qp_type;
	shared->access = 0;
	shared->qkey = 0;
	shared->dest_qpn = 0;
	shared->dest_gid = (union ibv_gid){.raw = {0}};
	atomic_store(&shared->framing, 0);
	shared->recv_cq = qp->recv_cq->index;
	shared->srq = qp->srq == NULL ? SOFT_NONE : qp->srq->index;
	shared->established = 0;
	shared->refusal.why = 0;
	atomic_store(&shared->partner, 0);
	atomic_store(&shared->qpn, qp->ibv.qp_num);
	shared_lock_release(&shared->lock);
}

/* --- making --- */

static const char create_qp[] = "ibv_create_qp";

static int check_init(const struct context *context, const struct ibv_qp_init_attr *init)
{
	const struct ibv_qp_cap *cap = &init->cap;

	if (!qp_type_is_known(init->qp_type))
		return REFUSE(-EOPNOTSUPP, create_qp,
			      "QP type %d; supported are RC (%d), UC (%d), UD (%d)",
			      (int)init->qp_type, (int)IBV_QPT_RC, (int)IBV_QPT_UC,
			      (int)IBV_QPT_UD);
	if (init->send_cq == NULL || init->recv_cq == NULL)
		return REFUSE(-EINVAL, create_qp, "%s is NULL",
			      init->send_cq == NULL ? "send_cq" : "recv_cq");
	if (init->send_cq->context != &context->verbs.context ||
	    init->recv_cq->context != &context->verbs.context)
		return REFUSE(-EINVAL, create_qp, "a CQ is of another context than the PD");
	if (cap->max_send_wr > SOFT_MAX_WR || cap->max_send_sge > SOFT_MAX_SGE ||
	    cap->max_inline_data > SOFT_MAX_INLINE)
		return REFUSE(-EINVAL, create_qp,
			      "max_send_wr %u, max_send_sge %u, max_inline_data %u; the limits are "
			      "%d, %d, %d",
			      cap->max_send_wr, cap->max_send_sge, cap->max_inline_data,
			      SOFT_MAX_WR, SOFT_MAX_SGE, SOFT_MAX_INLINE);
	if (init->srq == NULL &&
	    (cap->max_recv_wr > SOFT_MAX_WR || cap->max_recv_sge > SOFT_MAX_SGE))
		return REFUSE(-EINVAL, create_qp,
			      "max_recv_wr %u, max_recv_sge %u; the limits are %d, %d",
			      cap->max_recv_wr, cap->max_recv_sge, SOFT_MAX_WR, SOFT_MAX_SGE);
	return 0;
}

static void fill(struct qp *qp, struct pd *pd, const struct ibv_qp_init_attr *init)
{
	uint32_t inline_room;

	qp->pd = pd;
	qp->context = context_of(pd->ibv.context);
	qp->generation = pd->generation;
	qp->send_cq = cq_of(init->send_cq);
	qp->recv_cq = cq_of(init->recv_cq);
	qp->srq = (struct srq *)init->srq;
	qp->init = *init;
	if (init->srq != NULL) {
		qp->init.cap.max_recv_wr = 0;
		qp->init.cap.max_recv_sge = 0;
	}
	/* room for that many parts is room for their bytes, as in rxe_qp_init_req() */
	inline_room = init->cap.max_send_sge * (uint32_t)sizeof(struct ibv_sge);
	if (qp->init.cap.max_inline_data < inline_room)
		qp->init.cap.max_inline_data = inline_room;
	qp->attr.cap = qp->init.cap;
	qp->ibv.context = pd->ibv.context;
	qp->ibv.qp_context = init->qp_context;
	qp->ibv.pd = &pd->ibv;
	qp->ibv.send_cq = init->send_cq;
	qp->ibv.recv_cq = init->recv_cq;
	qp->ibv.srq = init->srq;
	qp->ibv.state = IBV_QPS_RESET;
	qp->ibv.qp_type = init->qp_type;
	pthread_mutex_init(&qp->ibv.mutex, NULL);
	pthread_cond_init(&qp->ibv.cond, NULL);
	pthread_mutex_init(&qp->post_recv, NULL);
}

/* The send queue learns whose it is. */
static void own_queue(struct qp *qp)
{
	qp->sq.shared = qp->shared;
	qp->sq.qpn = qp->ibv.qp_num;
	qp->sq.index = qp->index;
	qp->sq.pd = qp->pd->number;
	qp->sq.cq = qp->send_cq->index;
	qp->sq.gid = qp->context->device->gid;
	sq_begin(&qp->sq);
}

/* Into the tables, with a number; 0 or -errno. */
static int enter(struct qp *qp)
{
	struct process *process = process_current;
	struct shared_ring ring;
	int entry, error;

	pthread_mutex_lock(&process_objects);
	error = recv_ring_make(&ring, qp->init.cap.max_recv_wr, qp->init.cap.max_recv_sge);
	entry = error != 0 ? error : entry_find(qp->context->device);
	if (entry >= 0) {
		qp->index = (uint32_t)entry;
		process->segment->qp[entry].rq = ring;
		entry_fill(qp);
		own_queue(qp);
		table[entry] = qp;
		if (qp->index >= table_end)
			table_end = qp->index + 1;
		atomic_fetch_add(&qp->pd->users, 1);
		atomic_fetch_add(&qp->send_cq->users, 1);
		atomic_fetch_add(&qp->recv_cq->users, 1);
		if (qp->srq != NULL)
			atomic_fetch_add(&qp->srq->users, 1);
	} else if (error == 0) {
		recv_ring_free(&ring);
	}
	pthread_mutex_unlock(&process_objects);
	return entry < 0 ? entry : 0;
}

/* Its send queue, also before the rest of a QP that a peer holds: the program's memory is in it. */
static void end_queue(struct qp *qp)
{
	sq_destroy(&qp->sq);
	pd_memory_put(qp->pd, qp->sq_memory);
	qp->sq_memory = NULL;
}

static void qp_delete(struct qp *qp)
{
	sq_destroy(&qp->sq);
	pthread_mutex_destroy(&qp->post_recv);
	pthread_mutex_destroy(&qp->ibv.mutex);
	pthread_cond_destroy(&qp->ibv.cond);
	objects_free(qp);
}

/* Many programs print only that there is no queue pair. */
static void warn_files(int error)
{
	static _Atomic bool warned;

	if (!atomic_load(&warned) && process_warn_files(error, "no queue pair"))
		atomic_store(&warned, true);
}

static struct ibv_qp *create(struct ibv_pd *ibv, struct ibv_qp_init_attr *init, uint64_t send_ops)
{
	struct pd *pd = pd_of(ibv);
	struct qp *qp;
	int error = check_init(context_of(ibv->context), init);

	if (error == 0)
		error = -qp_ex_check(init->qp_type, send_ops);
	if (error != 0)
		return call_failed_null(-error);
	qp = calloc(1, sizeof(*qp));
	if (qp == NULL)
		return NULL;
	fill(qp, pd, init);
	if (send_ops != 0)
		qp_ex_init(qp, send_ops);
	if (!pd_memory_get(pd, sq_bytes(&qp->init.cap), &qp->sq_memory))
		error = -ENOMEM;
	if (error == 0)
		error = sq_init(&qp->sq, init->qp_type, &qp->init.cap, init->sq_sig_all != 0,
				qp->sq_memory);
	if (error == 0)
		error = enter(qp);
	if (error != 0) {
		end_queue(qp);
		qp_delete(qp);
		warn_files(error);
		return call_failed_null(REFUSE(-error, create_qp,
					       "no memory, port or free entry among %d QPs for it",
					       SEGMENT_QPS));
	}
	init->cap = qp->init.cap;
	objects_made(OBJECT_QP, &qp->ibv, qp->ibv.qp_num);
	if (check_any)
		qp_check_room(qp);
	return &qp->ibv;
}

SOFT_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
	ENTER_NULL(pd_of(pd)->generation);
	return create(pd, init, 0);
}

struct ibv_qp *qp_create_ex(struct ibv_context *ibv, struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS;
	uint32_t mask = attr->comp_mask;
	uint32_t create_flags = mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;

	ENTER_WITH("ibv_create_qp_ex", context_of(ibv)->generation, call_failed_null);
	if ((mask & ~known) != 0 || create_flags != 0)
		return call_failed_null(REFUSE(EOPNOTSUPP, "ibv_create_qp_ex",
					       "comp_mask %#x, create_flags %#x; supported are PD "
					       "and SEND_OPS_FLAGS",
					       mask, create_flags));
	if (!(mask & IBV_QP_INIT_ATTR_PD) || attr->pd == NULL || attr->pd->context != ibv)
		return call_failed_null(
			REFUSE(EINVAL, "ibv_create_qp_ex", "no PD of this context"));
	/* the first members are those of ibv_qp_init_attr: verbs.h */
	return create(attr->pd, (struct ibv_qp_init_attr *)(void *)attr,
		      mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS ? attr->send_ops_flags : 0);
}

SOFT_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *ibv)
{
	return qp_of(ibv)->has_ex ? &qp_of(ibv)->ex : NULL;
}

/* --- pushing completions --- */

static void resume_pushes(const struct cq *cq, unsigned targets)
{
	for (unsigned i = 0; i < table_end; i++) {
		if (table[i] == NULL)
			continue;
		if (i < targets && table[i]->recv_cq == cq)
			shared_lock_release(&table[i]->shared->lock);
		if (table[i]->send_cq == cq)
			shared_lock_release(&table[i]->sq.lock);
	}
}

bool qp_stop_pushes(const struct cq *cq)
{
	for (unsigned i = 0; i < table_end; i++)
		if (table[i] != NULL && table[i]->send_cq == cq)
			shared_lock_take(&table[i]->sq.lock);
	for (unsigned i = 0; i < table_end; i++) {
		if (table[i] == NULL || table[i]->recv_cq != cq ||
		    shared_lock_take_soon(&table[i]->shared->lock))
			continue;
		resume_pushes(cq, i);
		return false;
	}
	return true;
}

void qp_resume_pushes(const struct cq *cq)
{
	resume_pushes(cq, table_end);
}

/* --- posting --- */

int qp_post_send(struct ibv_qp *ibv, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return sq_post(&qp_of(ibv)->sq, wr, bad_wr);
}

/*
 * The QP may go to ERR, by a peer, at any moment. It flushes after the state is written, we look at
 * the state after the entry is posted: one of us sees the other.
 */
static void flush_if_in_error(struct qp *qp)
{
	if (qp_state(qp) != IBV_QPS_ERR)
		return;
	if (responder_flush_soon(process_current->self, qp->shared))
		return;
	atomic_fetch_or(&qp->shared->raise, RAISE_QP_RECEIVES);
	agent_kick();
}

static const char post_recv[] = "ibv_post_recv";

static void refuse_receive(const struct qp *qp, const struct ibv_recv_wr *wr, int error)
{
	if (error == ENOMEM)
		REFUSE_OF(error, post_recv,
			  "QP %#x: its receive queue is full: %u are posted (max_recv_wr)",
			  qp->ibv.qp_num, qp->shared->rq.max_wr);
	else
		REFUSE_OF(error, post_recv, "QP %#x: wr_id %#llx: num_sge is %d, max_recv_sge %u",
			  qp->ibv.qp_num, (unsigned long long)wr->wr_id, wr->num_sge,
			  qp->shared->rq.max_sge);
}

int qp_post_recv(struct ibv_qp *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct qp *qp = qp_of(ibv);
	int error = 0;

	if (qp->srq != NULL)
		error = REFUSE_OF(EINVAL, post_recv, "QP %#x: it has an SRQ, post there",
				  ibv->qp_num);
	else if (qp_state(qp) == IBV_QPS_RESET)
		error = REFUSE_OF(EINVAL, post_recv, "QP %#x: it is in RESET", ibv->qp_num);
	pthread_mutex_lock(&qp->post_recv);
	if (error == 0) {
		error = recv_ring_post(&qp->shared->rq, &wr);
		if (error != 0)
			refuse_receive(qp, wr, error);
	}
	pthread_mutex_unlock(&qp->post_recv);
	if (error != 0)
		*bad_wr = wr;
	flush_if_in_error(qp);
	return error;
}

/* --- destroying --- */

/* False: a peer holds the QP. It is dead, but its entry and rings are kept. */
static bool leave_tables(struct qp *qp)
{
	struct shared_qp *shared = qp->shared;
	bool had;

	pthread_mutex_lock(&process_objects);
	table[qp->index] = NULL;
	/* executors hold the lock: once we have had it none is inside any more */
	had = shared_lock_take_soon(&shared->lock);
	shared_qp_set_state(shared, IBV_QPS_RESET);
	atomic_store(&shared->qpn, 0);
	if (had) {
		recv_ring_free(&shared->rq);
		shared_lock_release(&shared->lock);
	}
	kept[qp->index] = !had;
	pthread_mutex_unlock(&process_objects);
	return had;
}

void qp_let_go(struct qp *qp)
{
	recv_ring_free(&qp->shared->rq);
	kept[qp->index] = false;
	shared_lock_release(&qp->shared->lock);
	qp_delete(qp);
}

static void release_users(struct qp *qp)
{
	atomic_fetch_sub(&qp->pd->users, 1);
	atomic_fetch_sub(&qp->send_cq->users, 1);
	atomic_fetch_sub(&qp->recv_cq->users, 1);
	if (qp->srq != NULL)
		atomic_fetch_sub(&qp->srq->users, 1);
}

SOFT_EXPORT int ibv_destroy_qp(struct ibv_qp *ibv)
{
	struct qp *qp = qp_of(ibv);
	bool gone, in_group;

	if (OBJECT_IS_GONE(OBJECT_QP, ibv))
		return call_error(EINVAL);
	ENTER(qp->generation);
	pthread_mutex_lock(&process_objects);
	in_group = mcast_has(qp);
	pthread_mutex_unlock(&process_objects);
	if (in_group)
		return REFUSE(EBUSY, __func__, "QP 0x%x is in a multicast group", ibv->qp_num);
	if (check_any)
		qp_check_before_end(qp);
	if (adversary_any)
		sq_adversary_run(&qp->sq);
	if (qp->sq.ud != NULL)
		sq_ud_drain(&qp->sq);
	qp_unlink(qp);
	gone = leave_tables(qp);
	agent_settle(); /* the answer to what was just executed on it goes out, as from a NIC */
	sq_wait_end(&qp->sq);
	completion_purge(qp->send_cq->shared, ibv->qp_num);
	if (qp->recv_cq != qp->send_cq)
		completion_purge(qp->recv_cq->shared, ibv->qp_num);
	async_settle(qp->context, ibv);
	if (check_any)
		qp_check_end(qp);
	objects_gone(OBJECT_QP, ibv);
	end_queue(qp);
	pthread_mutex_lock(&process_objects);
	if (!gone)
		held_add_qp(qp);
	pthread_mutex_unlock(&process_objects);
	release_users(qp);
	if (gone)
		qp_delete(qp);
	return 0;
}

static int begin(struct process *process)
{
	(void)process;
	peer_user = &qp_peer_user;
	return 0;
}

const struct process_part qp_part = {.begin = begin, .raise = qp_raise_all, .forked = forget};
