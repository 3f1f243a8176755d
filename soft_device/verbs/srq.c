/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srq.c -- shared receive queues: a ring of receives that several QPs take from, and the
 * event when it runs low.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "held.h"
#include "objects.h"
#include "qp.h"
#include "qp_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/recv_ring.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/process.h"

static struct srq *table[SEGMENT_SRQS]; /* objects lock */

static void forget(void)
{
	memset(table, 0, sizeof(table));
}

static struct srq *srq_of(struct ibv_srq *ibv)
{
	return (struct srq *)ibv;
}

static int entry_find(void)
{
	for (int i = 0; i < SEGMENT_SRQS; i++)
		if (table[i] == NULL && !held_uses_srq((uint32_t)i))
			return i;
	return -ENOMEM;
}

static void entry_fill(struct srq *srq)
{
	struct shared_srq *shared = srq->shared;

	shared->pd = srq->pd->number;
	shared->limit = 0;
	atomic_store(&shared->raise, 0);
	shared->live = 1;
}

static int enter(struct srq *srq, const struct ibv_srq_attr *attr)
{
	struct process *process = process_current;
	int error, entry;

	pthread_mutex_lock(&process_objects);
	entry = entry_find();
	error = entry < 0 ? entry : 0;
	if (error == 0) {
		srq->index = (uint32_t)entry;
		srq->shared = &process->segment->srq[entry];
		error = recv_ring_make(&srq->shared->rq, attr->max_wr, attr->max_sge);
	}
	if (error == 0) {
		entry_fill(srq);
		table[entry] = srq;
		srq->ibv.handle = srq->index;
		atomic_fetch_add(&srq->pd->users, 1);
	}
	pthread_mutex_unlock(&process_objects);
	return error;
}

static void fill(struct srq *srq, struct pd *pd, void *context)
{
	srq->pd = pd;
	srq->generation = pd->generation;
	srq->ibv.context = pd->ibv.context;
	srq->ibv.srq_context = context;
	srq->ibv.pd = &pd->ibv;
	pthread_mutex_init(&srq->ibv.mutex, NULL);
	pthread_cond_init(&srq->ibv.cond, NULL);
	pthread_mutex_init(&srq->post, NULL);
}

static void srq_delete(struct srq *srq)
{
	pthread_mutex_destroy(&srq->post);
	pthread_mutex_destroy(&srq->ibv.mutex);
	pthread_cond_destroy(&srq->ibv.cond);
	objects_free(srq);
}

SOFT_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *ibv, struct ibv_srq_init_attr *init)
{
	const struct ibv_srq_attr *attr = &init->attr;
	struct srq *srq;
	int error;

	ENTER_NULL(pd_of(ibv)->generation);
	if (attr->max_wr == 0 || attr->max_wr > SOFT_MAX_WR || attr->max_sge > SOFT_MAX_SGE)
		return call_failed_null(REFUSE(
			EINVAL, "ibv_create_srq", "max_wr %u, max_sge %u; the limits are %d, %d",
			attr->max_wr, attr->max_sge, SOFT_MAX_WR, SOFT_MAX_SGE));
	srq = calloc(1, sizeof(*srq));
	if (srq == NULL)
		return NULL;
	fill(srq, pd_of(ibv), init->srq_context);
	error = enter(srq, attr);
	if (error != 0) {
		srq_delete(srq);
		return call_failed_null(-error);
	}
	objects_made(OBJECT_SRQ, &srq->ibv, srq->index);
	return &srq->ibv;
}

SOFT_EXPORT int ibv_modify_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr, int mask)
{
	struct shared_srq *shared = srq_of(ibv)->shared;

	ENTER(srq_of(ibv)->generation);
	if (mask & IBV_SRQ_MAX_WR) /* IBV_DEVICE_SRQ_RESIZE is not claimed */
		return REFUSE_OF(EOPNOTSUPP, "ibv_modify_srq", "SRQ %u: it cannot be resized",
				 srq_of(ibv)->index);
	if ((mask & ~IBV_SRQ_LIMIT) != 0)
		return REFUSE_OF(EINVAL, "ibv_modify_srq", "SRQ %u: unknown srq_attr_mask %#x",
				 srq_of(ibv)->index, (unsigned)mask);
	if ((mask & IBV_SRQ_LIMIT) && attr->srq_limit > shared->rq.max_wr)
		return REFUSE_OF(EINVAL, "ibv_modify_srq", "SRQ %u: srq_limit is %u, max_wr %u",
				 srq_of(ibv)->index, attr->srq_limit, shared->rq.max_wr);
	if (mask & IBV_SRQ_LIMIT)
		atomic_store(&shared->limit, attr->srq_limit);
	return 0;
}

SOFT_EXPORT int ibv_query_srq(struct ibv_srq *ibv, struct ibv_srq_attr *attr)
{
	struct shared_srq *shared = srq_of(ibv)->shared;

	ENTER(srq_of(ibv)->generation);
	attr->max_wr = shared->rq.max_wr;
	attr->max_sge = shared->rq.max_sge;
	attr->srq_limit = atomic_load(&shared->limit);
	return 0;
}

SOFT_EXPORT int ibv_destroy_srq(struct ibv_srq *ibv)
{
	struct srq *srq = srq_of(ibv);

	if (OBJECT_IS_GONE(OBJECT_SRQ, ibv))
		return call_error(EINVAL);
	ENTER(srq->generation);
	if (atomic_load(&srq->users) != 0)
		return REFUSE_OF(EBUSY, "ibv_destroy_srq", "SRQ %u: %u QPs use it", srq->index,
				 atomic_load(&srq->users));
	pthread_mutex_lock(&process_objects);
	table[srq->index] = NULL;
	atomic_store(&srq->shared->live, 0);
	if (!held_uses_srq(srq->index))
		recv_ring_free(&srq->shared->rq);
	pthread_mutex_unlock(&process_objects);
	async_settle(context_of(ibv->context), ibv);
	atomic_fetch_sub(&srq->pd->users, 1);
	if (check_any) {
		sq_check_ring_end(&srq->shared->rq);
		check_release(srq);
	}
	objects_gone(OBJECT_SRQ, ibv);
	srq_delete(srq);
	return 0;
}

void srq_let_go(uint32_t index)
{
	if (table[index] == NULL)
		recv_ring_free(&process_current->segment->srq[index].rq);
}

static void refuse_receive(const struct srq *srq, const struct ibv_recv_wr *wr, int error)
{
	if (error == ENOMEM)
		REFUSE_OF(error, "ibv_post_srq_recv", "SRQ %u: it is full: %u are posted (max_wr)",
			  srq->index, srq->shared->rq.max_wr);
	else
		REFUSE_OF(error, "ibv_post_srq_recv",
			  "SRQ %u: wr_id %#llx: num_sge is %d, max_sge %u", srq->index,
			  (unsigned long long)wr->wr_id, wr->num_sge, srq->shared->rq.max_sge);
}

int srq_post_recv(struct ibv_srq *ibv, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct srq *srq = srq_of(ibv);
	int error;

	pthread_mutex_lock(&srq->post);
	error = recv_ring_post(&srq->shared->rq, &wr);
	pthread_mutex_unlock(&srq->post);
	if (error != 0) {
		*bad_wr = wr;
		refuse_receive(srq, wr, error);
	}
	return error;
}

static void raise_all(void)
{
	for (unsigned i = 0; i < SEGMENT_SRQS; i++) {
		struct srq *srq = table[i];

		if (srq != NULL && (atomic_exchange(&srq->shared->raise, 0) & RAISE_SRQ_LIMIT))
			async_raise(context_of(srq->ibv.context), IBV_EVENT_SRQ_LIMIT_REACHED,
				    &srq->ibv);
	}
}

const struct process_part srq_part = {.raise = raise_all, .forked = forget};
