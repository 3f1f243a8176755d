/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * qp_attr.c -- ibv_modify_qp() and ibv_query_qp(): what values the attributes may have, and what
 * the change does. Which of them each change of state takes is said by qp_states.c.
 *
 * Address handles need a GRH, as on every RoCE port.
 */
#include <errno.h>
#include <string.h>

#include "qp.h"
#include "qp_check.h"
#include "qp_states.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/recv_ring.h"
#include "soft_device/datapath/responder.h"
#include "soft_device/datapath/sq_adversary.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"

#define HELD_NS	 UINT64_C(500000000) /* to wait for a peer that holds the QP */

#define PSN_MASK 0xffffffu

/* --- checks --- */

static const char modify_qp[] = "ibv_modify_qp";

/* 0 or EINVAL, as are the next two. */
static int check_mask(const struct qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	const struct qp_transition *transition = qp_transition(qp->ibv.qp_type, from, to);
	const uint32_t qpn = qp->ibv.qp_num;
	const char *const old = name_of_state(from), *const new = name_of_state(to);
	char names[NAMES_BYTES];
	int lacking, extra;

	if (transition == NULL)
		return REFUSE_OF(EINVAL, modify_qp, "QP %#x: no change leads from %s to %s", qpn,
				 old, new);
	lacking = transition->needed & ~mask;
	if (lacking != 0)
		return REFUSE_OF(EINVAL, modify_qp, "QP %#x: %s to %s lacks %s", qpn, old, new,
				 names_of_qp_mask((uint32_t)lacking, names));
	extra = mask & ~(transition->needed | transition->optional | IBV_QP_STATE);
	if (extra != 0)
		return REFUSE_OF(EINVAL, modify_qp, "QP %#x: %s to %s does not take %s", qpn, old,
				 new, names_of_qp_mask((uint32_t)extra, names));
	return 0;
}

/* Values that rxe_qp_chk_attr() or the kernel's modify_qp() refuses, or no field of a packet holds.
 */
static int check_values(const struct qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	const struct ibv_ah_attr *av = &attr->ah_attr;
	const struct {
		int bit;
		const char *member;
		unsigned value, least, most;
	} limits[] = {
		{IBV_QP_PORT, "port_num", attr->port_num, 1, 1},
		{IBV_QP_PKEY_INDEX, "pkey_index", attr->pkey_index, 0, 0},
		{IBV_QP_AV, "ah_attr.is_global", av->is_global, 1, UINT8_MAX},
		{IBV_QP_AV, "ah_attr.port_num", av->port_num, 1, 1},
		{IBV_QP_AV, "ah_attr.grh.sgid_index", av->grh.sgid_index, 0, SOFT_GIDS - 1},
		{IBV_QP_PATH_MTU, "path_mtu", attr->path_mtu, IBV_MTU_256, IBV_MTU_4096},
		{IBV_QP_DEST_QPN, "dest_qp_num", attr->dest_qp_num, 0, 0xffffff},
		{IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr->max_rd_atomic, 0,
		 SOFT_MAX_RD_ATOMIC},
		{IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr->max_dest_rd_atomic, 0,
		 SOFT_MAX_RD_ATOMIC},
		{IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", attr->min_rnr_timer, 0, 31},
		{IBV_QP_TIMEOUT, "timeout", attr->timeout, 0, 31},
		{IBV_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt, 0, 7},
		{IBV_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry, 0, 7},
		{IBV_QP_PATH_MIG_STATE, "path_mig_state", attr->path_mig_state, IBV_MIG_MIGRATED,
		 IBV_MIG_MIGRATED},
	};

	for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if ((mask & limits[i].bit) &&
		    (limits[i].value < limits[i].least || limits[i].value > limits[i].most))
			return REFUSE_OF(EINVAL, modify_qp, "QP %#x: %s is %u, expected %u to %u",
					 qp->ibv.qp_num, limits[i].member, limits[i].value,
					 limits[i].least, limits[i].most);
	if (mask & IBV_QP_ALT_PATH)
		return REFUSE_OF(EINVAL, modify_qp, "QP %#x: alternate paths are not supported",
				 qp->ibv.qp_num);
	return 0;
}

static int check_change(const struct qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state from = qp_state(qp);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	int error;

	if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != from)
		return REFUSE_OF(EINVAL, modify_qp, "QP %#x: cur_qp_state is %s, the QP is in %s",
				 qp->ibv.qp_num, name_of_state(attr->cur_qp_state),
				 name_of_state(from));
	error = check_mask(qp, from, to, mask);
	return error != 0 ? error : check_values(qp, attr, mask);
}

/* --- the change --- */

static void store(struct ibv_qp_attr *own, const struct ibv_qp_attr *attr, int mask)
{
#define STORE(bit, member)                                                                         \
	do {                                                                                       \
		if (mask & (bit))                                                                  \
			own->member = attr->member;                                                \
	} while (0)
	STORE(IBV_QP_PORT, port_num);
	STORE(IBV_QP_PKEY_INDEX, pkey_index);
	STORE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
	STORE(IBV_QP_QKEY, qkey);
	STORE(IBV_QP_AV, ah_attr);
	STORE(IBV_QP_PATH_MTU, path_mtu);
	STORE(IBV_QP_DEST_QPN, dest_qp_num);
	STORE(IBV_QP_RQ_PSN, rq_psn);
	STORE(IBV_QP_SQ_PSN, sq_psn);
	STORE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	STORE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	STORE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
	STORE(IBV_QP_TIMEOUT, timeout);
	STORE(IBV_QP_RETRY_CNT, retry_cnt);
	STORE(IBV_QP_RNR_RETRY, rnr_retry);
	STORE(IBV_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
#undef STORE
	own->rq_psn &= PSN_MASK;
	own->sq_psn &= PSN_MASK;
}

static uint8_t framing_of(const struct ibv_qp_attr *attr)
{
	const bool is_v1 = gid_type_of(attr->ah_attr.grh.sgid_index) == IBV_GID_TYPE_ROCE_V1;

	return (uint8_t)(attr->path_mtu | (is_v1 ? FRAMING_ROCE_V1 : 0));
}

/* Sets what the send queue and peers see of it; sq.lock and shared_qp.lock are held. */
static void publish(struct qp *qp, enum ibv_qp_state to)
{
	const struct ibv_qp_attr *attr = &qp->attr;
	struct shared_qp *shared = qp->shared;

	qp->sq.path = (struct send_path){
		.qpn = attr->dest_qp_num,
		.gid = attr->ah_attr.grh.dgid,
		.rnr_retry = attr->rnr_retry,
		.retry_cnt = attr->retry_cnt,
		.timeout = attr->timeout,
		.max_rd_atomic = attr->max_rd_atomic,
		.framing = framing_of(attr),
	};
	qp->sq.target = NULL; /* it may have another one */
	shared->access = attr->qp_access_flags;
	shared->qkey = attr->qkey;
	shared->dest_qpn = attr->dest_qp_num;
	shared->dest_gid = attr->ah_attr.grh.dgid;
	shared->rnr_timer = attr->min_rnr_timer;
	shared->rnr_retry = attr->rnr_retry;
	shared->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	atomic_store(&shared->framing, qp->sq.path.framing);
	shared_qp_set_state(shared, to);
	if (to == IBV_QPS_ERR)
		responder_flush(process_current->self, shared);
	if (to == IBV_QPS_RESET) {
		shared->established = 0;
		recv_ring_reset(&shared->rq);
	}
}

/* Back to how it was made, but for what RESET keeps: nothing. */
static void forget(struct qp *qp)
{
	struct ibv_qp_cap cap = qp->attr.cap;

	qp->attr = (struct ibv_qp_attr){.cap = cap};
}

/*
 * 0, EINVAL or EBUSY: a peer that is stopped holds the QP, which goes to ERR all the same. Callers
 * hold sq.lock. A peer may take the QP to ERR until the shared lock is ours.
 */
static int change(struct qp *qp, const struct ibv_qp_attr *attr, int mask, enum ibv_qp_state *from,
		  enum ibv_qp_state *to)
{
	int error;

	if (!shared_lock_take_soon(&qp->shared->lock)) {
		*from = qp_state(qp);
		*to = attr->qp_state;
		if (!(mask & IBV_QP_STATE) || *to != IBV_QPS_ERR)
			return EBUSY;
		responder_fail(process_current->self, qp->shared, qp->sq.generation, 0);
		return 0;
	}
	*from = qp_state(qp);
	*to = mask & IBV_QP_STATE ? attr->qp_state : *from;
	error = check_change(qp, attr, mask);
	if (error == 0) {
		store(&qp->attr, attr, mask);
		if (*to == IBV_QPS_RESET)
			forget(qp);
		publish(qp, *to);
	}
	shared_lock_release(&qp->shared->lock);
	return error;
}

static void purge(struct qp *qp)
{
	completion_purge(qp->send_cq->shared, qp->ibv.qp_num);
	if (qp->recv_cq != qp->send_cq)
		completion_purge(qp->recv_cq->shared, qp->ibv.qp_num);
}

/* Other effects of a change of state; sq.lock is held, and the objects lock. */
static void arrive(struct qp *qp, enum ibv_qp_state from, enum ibv_qp_state to)
{
	qp->ibv.state = to;
	if (to == IBV_QPS_RESET) {
		purge(qp);
		sq_reset(&qp->sq); /* after the completions that release its slots are gone */
	}
	if (to == IBV_QPS_ERR) {
		sq_flush(&qp->sq);
		if (qp->srq != NULL && from != IBV_QPS_ERR)
			async_raise(qp->context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->ibv);
	}
	if (to == IBV_QPS_SQD && from == IBV_QPS_RTS) {
		qp->sq.drain_notify = qp->attr.en_sqd_async_notify;
		if (qp->sq.drain_notify && qp->sq.completed == qp->sq.next)
			qp_tell_drained(qp);
	}
}

static int modify(struct qp *qp, struct ibv_qp_attr *attr, int mask, enum ibv_qp_state *from,
		  enum ibv_qp_state *to)
{
	int error;

	pthread_mutex_lock(&process_objects);
	shared_lock_take(&qp->sq.lock);
	error = change(qp, attr, mask, from, to);
	if (error == 0)
		arrive(qp, *from, *to);
	shared_lock_release(&qp->sq.lock);
	pthread_mutex_unlock(&process_objects);
	return error;
}

SOFT_EXPORT int ibv_modify_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask)
{
	struct qp *qp = qp_of(ibv);
	const uint64_t until_ns = process_now_ns() + HELD_NS;
	enum ibv_qp_state from, to;
	int error;

	ENTER(qp->generation);
	if (check_any && (mask & IBV_QP_STATE))
		qp_check_state(qp, attr->qp_state);
	else if (adversary_any && (mask & IBV_QP_STATE) && attr->qp_state != IBV_QPS_RTS)
		sq_adversary_run(&qp->sq);
	if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		qp_unlink(qp);
	do
		error = modify(qp, attr, mask, &from, &to);
	while (error == EBUSY && process_now_ns() < until_ns);
	if (error == EBUSY)
		return REFUSE_OF(error, modify_qp, "QP %#x: a process that is stopped holds it",
				 ibv->qp_num);
	if (error != 0)
		return error;
	if (to == IBV_QPS_RTR && from == IBV_QPS_INIT && qp->ibv.qp_type != IBV_QPT_UD)
		qp_link(qp); /* a UD QP has a peer for each message */
	if (to == IBV_QPS_RTS && from != IBV_QPS_RTS)
		sq_run(&qp->sq);
	return 0;
}

SOFT_EXPORT int ibv_query_qp(struct ibv_qp *ibv, struct ibv_qp_attr *attr, int mask,
			     struct ibv_qp_init_attr *init)
{
	struct qp *qp = qp_of(ibv);

	(void)mask; /* all are told, as the manual allows */
	ENTER(qp->generation);
	shared_lock_take(&qp->sq.lock);
	*attr = qp->attr;
	shared_lock_release(&qp->sq.lock);
	attr->qp_state = qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	*init = qp->init;
	return 0;
}
