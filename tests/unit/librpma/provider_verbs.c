/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider_verbs.c -- the libibverbs half of the scripted provider: one device
 * with its PDs, MRs, CQs, QPs and SRQs, and the operations that verbs.h calls
 * inline through the context.
 */
#include "calls.h"
#include "provider.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAITING 16

/* Every object starts with the public struct, so the pointers are the same. */
struct pd {
	struct ibv_pd base;
	int users;
};

struct cq {
	struct ibv_cq base;
	int users;
	int unacked;
	struct ibv_wc waiting[MAX_WAITING];
	int num_waiting;
};

struct srq {
	struct ibv_srq base;
	int users;
};

static struct ibv_device device;
static struct verbs_context verbs_context;
static struct cq foreign_cq;

/* Events of all completion channels, oldest first. */
static struct {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
} cq_events[MAX_WAITING];
static unsigned num_cq_events;

static uint32_t next_key;
static uint32_t next_qp_num;

/* --- device -------------------------------------------------------------- */

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *in,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	(void)context, (void)in;
	if (calls_fail("ibv_query_device_ex"))
		return errno;
	memcpy(attr, &provider.device_attr, attr_size < sizeof(*attr) ? attr_size : sizeof(*attr));
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	if (calls_fail(__func__))
		return errno;
	*attr = provider.device_attr.orig_attr;
	return 0;
}

/* --- protection domains and memory --------------------------------------- */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct pd *pd;

	if (calls_fail(__func__))
		return NULL;
	pd = calls_own_memory(sizeof(*pd));
	pd->base.context = context;
	provider.pd = &pd->base;
	provider.live.pd++;
	return &pd->base;
}

int ibv_dealloc_pd(struct ibv_pd *base)
{
	struct pd *pd = (struct pd *)base;
	bool failed = calls_fail(__func__);

	if (pd->users > 0)
		return EBUSY;
	provider.live.pd--;
	free(pd);
	return failed ? errno : 0;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	struct ibv_mr *mr;
	bool failed = calls_fail("ibv_reg_mr");

	provider.reg_mr.addr = addr;
	provider.reg_mr.length = length;
	provider.reg_mr.access = access;
	if (failed)
		return NULL;
	if (provider.reg_mr_errno_without_odp != 0 && !(access & IBV_ACCESS_ON_DEMAND)) {
		errno = provider.reg_mr_errno_without_odp;
		return NULL;
	}
	mr = calls_own_memory(sizeof(*mr));
	mr->context = pd->context;
	mr->pd = pd;
	mr->addr = addr;
	mr->length = length;
	mr->lkey = 0x10000 + next_key;
	mr->rkey = 0x20000 + next_key;
	next_key++;
	((struct pd *)pd)->users++;
	provider.live.mr++;
	return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return reg_mr(pd, addr, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	if (iova != (uintptr_t)addr)
		provider_break_rule("a region was registered at a foreign iova");
	return reg_mr(pd, addr, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	bool failed = calls_fail(__func__);

	((struct pd *)mr->pd)->users--;
	provider.live.mr--;
	free(mr);
	return failed ? errno : 0;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		     struct ibv_sge *sg_list, uint32_t num_sge)
{
	(void)pd;
	provider.advise_mr.advice = advice;
	provider.advise_mr.flags = flags;
	provider.advise_mr.sge = sg_list[0];
	provider.advise_mr.num_sge = num_sge;
	return calls_fail("ibv_advise_mr") ? errno : 0;
}

/* --- completions --------------------------------------------------------- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct ibv_comp_channel *channel;

	if (calls_fail(__func__))
		return NULL;
	channel = calls_own_memory(sizeof(*channel));
	channel->context = context;
	channel->fd = provider_event_fd();
	provider.live.comp_channel++;
	return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	bool failed = calls_fail(__func__);

	if (channel->refcnt > 0)
		return EBUSY;
	close(channel->fd);
	provider.live.comp_channel--;
	free(channel);
	return failed ? errno : 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	struct cq *cq;

	if (calls_fail(__func__))
		return NULL;
	if (provider.num_cqs == PROVIDER_MAX_CQS)
		abort();
	provider.create_cq[provider.num_cqs].cqe = cqe;
	provider.create_cq[provider.num_cqs].cq_context = cq_context;
	provider.create_cq[provider.num_cqs].channel = channel;
	provider.create_cq[provider.num_cqs].comp_vector = comp_vector;
	cq = calls_own_memory(sizeof(*cq));
	cq->base.context = context;
	cq->base.channel = channel;
	cq->base.cq_context = cq_context;
	cq->base.cqe = cqe;
	if (channel != NULL)
		channel->refcnt++;
	provider.cqs[provider.num_cqs++] = &cq->base;
	provider.live.cq++;
	return &cq->base;
}

int ibv_destroy_cq(struct ibv_cq *base)
{
	struct cq *cq = (struct cq *)base;
	bool failed = calls_fail(__func__);

	if (cq->users > 0)
		return EBUSY;
	if (cq->unacked > 0)
		provider_break_rule("a CQ with an unacked event was destroyed: that blocks");
	if (base->channel != NULL)
		base->channel->refcnt--;
	provider.live.cq--;
	free(cq);
	return failed ? errno : 0;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	provider.req_notify_cq.cq = cq;
	provider.req_notify_cq.solicited_only = solicited_only;
	return calls_fail("ibv_req_notify_cq") ? errno : 0;
}

static int poll_cq(struct ibv_cq *base, int num_entries, struct ibv_wc *wc)
{
	struct cq *cq = (struct cq *)base;
	int got = 0;

	if (calls_fail("ibv_poll_cq"))
		return -1;
	if (provider.poll_cq_answer != 0)
		return provider.poll_cq_answer;
	while (got < num_entries && got < cq->num_waiting) {
		wc[got] = cq->waiting[got];
		got++;
	}
	cq->num_waiting -= got;
	memmove(cq->waiting, cq->waiting + got, (size_t)cq->num_waiting * sizeof(cq->waiting[0]));
	return got;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	unsigned i = 0;

	if (calls_fail(__func__))
		return -1;
	while (i < num_cq_events && cq_events[i].channel != channel)
		i++;
	if (i == num_cq_events) {
		errno = EAGAIN;
		return -1;
	}
	*cq = cq_events[i].cq;
	*cq_context = (*cq)->cq_context;
	num_cq_events--;
	memmove(cq_events + i, cq_events + i + 1, (num_cq_events - i) * sizeof(cq_events[0]));
	provider_lower(channel->fd);
	((struct cq *)*cq)->unacked++;
	provider.live.unacked_cq_events++;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	calls_note(__func__);
	((struct cq *)cq)->unacked -= (int)nevents;
	provider.live.unacked_cq_events -= (int)nevents;
}

static void queue_cq_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	if (num_cq_events == MAX_WAITING)
		abort();
	cq_events[num_cq_events].channel = channel;
	cq_events[num_cq_events].cq = cq;
	num_cq_events++;
	provider_raise(channel->fd);
}

void provider_queue_cq_event(struct ibv_cq *cq)
{
	queue_cq_event(cq->channel, cq);
}

void provider_queue_foreign_cq_event(struct ibv_comp_channel *channel)
{
	queue_cq_event(channel, &foreign_cq.base);
}

void provider_queue_wc(struct ibv_cq *base, const struct ibv_wc *wc)
{
	struct cq *cq = (struct cq *)base;

	if (cq->num_waiting == MAX_WAITING)
		abort();
	cq->waiting[cq->num_waiting++] = *wc;
}

/* --- queue pairs and work requests --------------------------------------- */

static void count_qp_users(const struct ibv_qp *qp, int change)
{
	((struct pd *)qp->pd)->users += change;
	((struct cq *)qp->send_cq)->users += change;
	((struct cq *)qp->recv_cq)->users += change;
	if (qp->srq != NULL)
		((struct srq *)qp->srq)->users += change;
}

struct ibv_qp *provider_create_qp(struct ibv_qp_init_attr_ex *attr)
{
	struct ibv_qp_ex *qp = calls_own_memory(sizeof(*qp));

	provider.create_qp = *attr;
	qp->qp_base.context = attr->pd->context;
	qp->qp_base.qp_context = attr->qp_context;
	qp->qp_base.pd = attr->pd;
	qp->qp_base.send_cq = attr->send_cq;
	qp->qp_base.recv_cq = attr->recv_cq;
	qp->qp_base.srq = attr->srq;
	qp->qp_base.qp_type = attr->qp_type;
	qp->qp_base.qp_num = next_qp_num++;
	count_qp_users(&qp->qp_base, 1);
	provider.qp = &qp->qp_base;
	provider.live.qp++;
	return &qp->qp_base;
}

void provider_destroy_qp(struct ibv_qp *qp)
{
	count_qp_users(qp, -1);
	provider.live.qp--;
	free(qp);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct provider_send *send = &provider.send;

	(void)qp;
	send->posted++;
	send->wr = *wr;
	memset(&send->sge, 0, sizeof(send->sge));
	if (wr->num_sge > 0)
		send->sge = wr->sg_list[0];
	if (wr->send_flags & IBV_SEND_INLINE)
		memcpy(send->inline_data, (const void *)(uintptr_t)send->sge.addr,
		       send->sge.length);
	*bad_wr = wr;
	return calls_fail("ibv_post_send") ? errno : 0;
}

static void record_recv(struct provider_recv *recv, const struct ibv_recv_wr *wr)
{
	recv->posted++;
	recv->wr = *wr;
	memset(&recv->sge, 0, sizeof(recv->sge));
	if (wr->num_sge > 0)
		recv->sge = wr->sg_list[0];
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)qp;
	record_recv(&provider.recv, wr);
	*bad_wr = wr;
	return calls_fail("ibv_post_recv") ? errno : 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	(void)srq;
	record_recv(&provider.srq_recv, wr);
	*bad_wr = wr;
	return calls_fail("ibv_post_srq_recv") ? errno : 0;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct srq *srq;

	if (calls_fail(__func__))
		return NULL;
	provider.create_srq = *attr;
	srq = calls_own_memory(sizeof(*srq));
	srq->base.context = pd->context;
	srq->base.pd = pd;
	((struct pd *)pd)->users++;
	provider.srq = &srq->base;
	provider.live.srq++;
	return &srq->base;
}

int ibv_destroy_srq(struct ibv_srq *base)
{
	struct srq *srq = (struct srq *)base;
	bool failed = calls_fail(__func__);

	if (srq->users > 0)
		return EBUSY;
	((struct pd *)base->pd)->users--;
	provider.live.srq--;
	free(srq);
	return failed ? errno : 0;
}

/* --- start of a test ----------------------------------------------------- */

void provider_reset_verbs(void)
{
	num_cq_events = 0;
	next_key = 0;
	next_qp_num = 0x11;
	memset(&device, 0, sizeof(device));
	strcpy(device.name, "scripted0");
	device.node_type = IBV_NODE_CA;
	device.transport_type = IBV_TRANSPORT_IB;
	memset(&foreign_cq, 0, sizeof(foreign_cq));
	memset(&verbs_context, 0, sizeof(verbs_context));
	verbs_context.sz = sizeof(verbs_context);
	verbs_context.query_device_ex = query_device_ex;
	verbs_context.advise_mr = advise_mr;
	verbs_context.context.device = &device;
	verbs_context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	verbs_context.context.ops.poll_cq = poll_cq;
	verbs_context.context.ops.req_notify_cq = req_notify_cq;
	verbs_context.context.ops.post_send = post_send;
	verbs_context.context.ops.post_recv = post_recv;
	verbs_context.context.ops.post_srq_recv = post_srq_recv;
	provider.context = &verbs_context.context;
	provider.transport = &device.transport_type;
	provider.foreign_cq = &foreign_cq.base;
}
