/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * context.c -- opening and closing devices, and the operations of a context.
 *
 * verbs.h calls post, poll and arm straight through the pointers in ibv_context, and a few more
 * through the verbs_context before it: this file fills both. After a fork() the same pointers
 * lead the child to functions that fail with EIO.
 */
#include <errno.h>
#include <stdlib.h>

#include "objects.h"
#include "qp.h"
#include "qp_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/faults/call.h"

static struct context *contexts; /* objects lock */

/* Shared by the CM ids of a device. */
static pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct context *context;
	struct pd *pd;
} cm[SOFT_DEVICES_MAX];

static inline __attribute__((always_inline)) int post_checked(struct ibv_qp *qp,
							      struct ibv_send_wr *wr,
							      struct ibv_send_wr **bad_wr,
							      struct stack_entry entry)
{
	struct send_queue *sq = &qp_of(qp)->sq;
	int error;

	sq_check_enter(entry);
	error = sq_post_checked(sq, wr, bad_wr);
	if (__builtin_expect(error != 0, 0))
		sq_check_refused(sq, wr, *bad_wr, error);
	if (__builtin_expect(atomic_load_explicit(&check_held, memory_order_relaxed) > 0, 0))
		sq_check_taken(sq, wr, error != 0 ? *bad_wr : NULL);
	sq_check_leave();
	return error;
}

/* Used with checks and without faults. */
static int post_send_checked(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	return post_checked(qp, wr, bad_wr, STACK_ENTRY());
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	int error = FAULT_CALL_AS("ibv_post_send");

	if (error != 0) {
		*bad_wr = wr;
		return call_error(error);
	}
	return check_any ? post_checked(qp, wr, bad_wr, STACK_ENTRY())
			 : qp_post_send(qp, wr, bad_wr);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int error = FAULT_CALL_AS("ibv_post_recv");

	if (error != 0) {
		*bad_wr = wr;
		return call_error(error);
	}
	if (check_any)
		qp_check_receives(qp_of(qp), wr, stack_at(STACK_ENTRY()));
	error = qp_post_recv(qp, wr, bad_wr);
	if (check_any)
		qp_check_receive(qp_of(qp), error == 0 ? NULL : *bad_wr, error);
	return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int error = FAULT_CALL_AS("ibv_post_srq_recv");

	if (error != 0) {
		*bad_wr = wr;
		return call_error(error);
	}
	if (check_any)
		qp_check_srq_receives((struct srq *)srq, wr, stack_at(STACK_ENTRY()));
	error = srq_post_recv(srq, wr, bad_wr);
	if (check_any)
		qp_check_srq_receive((struct srq *)srq, error == 0 ? NULL : *bad_wr, error);
	return error;
}

#define REFUSE_POST(call, queue, request, format, number, qpn)                                     \
	static int refuse_##call(struct queue *of, struct request *wr, struct request **bad_wr)    \
	{                                                                                          \
		*bad_wr = wr;                                                                      \
		check_foreign("ibv_" #call, qpn);                                                  \
		return REFUSE_OF(EIO, "ibv_" #call, format ": " CALL_OF_PARENT, of->number);       \
	}
REFUSE_POST(post_send, ibv_qp, ibv_send_wr, "QP %#x", qp_num, of->qp_num)
REFUSE_POST(post_recv, ibv_qp, ibv_recv_wr, "QP %#x", qp_num, of->qp_num)
REFUSE_POST(post_srq_recv, ibv_srq, ibv_recv_wr, "SRQ %u", handle, 0)

static int refuse_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
	(void)count;
	(void)wc;
	check_foreign("ibv_poll_cq", 0);
	return call_failed(REFUSE_OF(EIO, "ibv_poll_cq", "CQ %u: " CALL_OF_PARENT, cq->handle));
}

static int refuse_arm(struct ibv_cq *cq, int solicited_only)
{
	(void)solicited_only;
	return REFUSE_OF(EIO, "ibv_req_notify_cq", "CQ %u: " CALL_OF_PARENT, cq->handle);
}

static void fill(struct context *context, struct device *device)
{
	struct verbs_context *verbs = &context->verbs;
	struct ibv_context *ibv = &verbs->context;

	context->device = device;
	context->generation = process_current->generation;
	verbs->sz = sizeof(*verbs);
	verbs->query_port = query_port;
	verbs->query_device_ex = query_device_ex;
	verbs->create_qp_ex = qp_create_ex;
	verbs->modify_cq = cq_modify;
	verbs->create_cq_ex = cq_create_ex;
	verbs->alloc_parent_domain = parent_domain_alloc;
	verbs->advise_mr = mr_advise;
	verbs->alloc_null_mr = mr_alloc_null;
	verbs->alloc_dm = dm_alloc;
	verbs->free_dm = dm_free;
	verbs->reg_dm_mr = dm_reg_mr;
	verbs->alloc_td = td_alloc;
	verbs->dealloc_td = td_dealloc;
	verbs->query_rt_values = query_rt_values;
	ibv->device = &device->ibv;
	ibv->cmd_fd = ibv->async_fd; /* no command goes there, but a program may dup() it */
	ibv->num_comp_vectors = 1;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	pthread_mutex_init(&ibv->mutex, NULL);
	ibv->ops.poll_cq = fault_more ? cq_poll_faulty : check_any ? cq_poll_checked : cq_poll;
	ibv->ops.req_notify_cq = cq_arm;
	ibv->ops.alloc_mw = mw_alloc;
	ibv->ops.dealloc_mw = mw_dealloc;
	ibv->ops.bind_mw = mw_bind;
	ibv->ops.post_send = fault_more ? post_send : check_any ? post_send_checked : qp_post_send;
	ibv->ops.post_recv = fault_any ? post_recv : qp_post_recv;
	ibv->ops.post_srq_recv = fault_any ? post_srq_recv : srq_post_recv;
	context_fill_lacking(verbs);
}

/* In the child of a fork() every context is one that refuses. */
static void refuse_all(void)
{
	for (struct context *context = contexts; context != NULL; context = context->next) {
		struct ibv_context_ops *ops = &context->verbs.context.ops;

		ops->poll_cq = refuse_poll_cq;
		ops->req_notify_cq = refuse_arm;
		ops->post_send = refuse_post_send;
		ops->post_recv = refuse_post_recv;
		ops->post_srq_recv = refuse_post_srq_recv;
	}
}

const struct process_part context_part = {.lock = &sharing, .forked = refuse_all};

static struct context *context_open(struct device *device)
{
	struct process *process = process_get();
	struct context *context;
	int error;

	if (process == NULL)
		return NULL;
	context = calloc(1, sizeof(*context));
	error = context == NULL ? -ENOMEM : async_open(context);
	if (error != 0) {
		free(context);
		return call_failed_null(-error);
	}
	fill(context, device);
	pthread_mutex_lock(&process_objects);
	context->next = contexts;
	contexts = context;
	pthread_mutex_unlock(&process_objects);
	return context;
}

/* Like in the kernel, one that has objects left goes on to serve them. */
static void context_close(struct context *context)
{
	if (atomic_load(&context->users) != 0)
		return;
	pthread_mutex_lock(&process_objects);
	LIST_TAKE_OUT(contexts, context, next);
	pthread_mutex_unlock(&process_objects);
	async_close(context);
	pthread_mutex_destroy(&context->verbs.context.mutex);
	objects_free_of(&context->verbs.context, context);
}

SOFT_EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	int fault = FAULT_CALL();
	struct context *context;

	if (fault != 0)
		return call_failed_null(fault);
	context = context_open((struct device *)device);
	if (context == NULL)
		return NULL;
	objects_made(OBJECT_CONTEXT, &context->verbs.context, 0);
	return &context->verbs.context;
}

SOFT_EXPORT int ibv_close_device(struct ibv_context *ibv)
{
	struct context *context = context_of(ibv);

	if (OBJECT_IS_GONE(OBJECT_CONTEXT, ibv))
		return call_failed(EINVAL);
	ENTER_MINUS(context->generation);
	objects_gone(OBJECT_CONTEXT, ibv);
	context_close(context);
	return 0;
}

/* Callers hold sharing. What a fork() made foreign is forgotten. */
static struct context *cm_context(const struct device *device)
{
	struct context *context = cm[device->index].context;

	if (context != NULL && !process_is_foreign(context->generation))
		return context;
	cm[device->index].pd = NULL;
	cm[device->index].context = context_open(device_at(device->index));
	return cm[device->index].context;
}

struct ibv_context *device_cm_context(struct device *device)
{
	struct context *context;

	pthread_mutex_lock(&sharing);
	context = cm_context(device);
	pthread_mutex_unlock(&sharing);
	return context == NULL ? NULL : &context->verbs.context;
}

struct ibv_pd *device_cm_pd(struct device *device)
{
	struct context *context;
	struct pd *pd = NULL;

	pthread_mutex_lock(&sharing);
	context = cm_context(device);
	if (context != NULL) {
		if (cm[device->index].pd == NULL)
			cm[device->index].pd = pd_make(context);
		pd = cm[device->index].pd;
	}
	pthread_mutex_unlock(&sharing);
	return pd == NULL ? NULL : &pd->ibv;
}
