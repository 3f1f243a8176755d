/* SPDX-License-Identifier: BSD-3-Clause */
/* provider_qp.c -- queue pairs, shared receive queues, and the work requests given to them. */
#include "provider_objects.h"

static uint32_t next_qp_num;

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
	struct ibv_qp_ex *qp = calls_own_memory(PROVIDER_QP_EX_BYTES);

	provider.create_qp = *attr;
	attr->cap.max_send_wr += provider.sends_granted;
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
	calls_own_free(qp);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
	provider.modify_qp.attr = *attr;
	provider.modify_qp.mask = attr_mask;
	return calls_fail(__func__) ? errno : 0;
}

static void record_sent(const struct ibv_send_wr *wr)
{
	const unsigned i = provider.sends_count;

	if (i == PROVIDER_MAX_SENDS)
		return;
	provider.sends[i] = *wr;
	provider.sends_bytes[i] = 0;
	for (int s = 0; s < wr->num_sge; s++) {
		const struct ibv_sge *sge = &wr->sg_list[s];

		if (wr->send_flags & IBV_SEND_INLINE)
			memcpy(provider.sends_data[i] + provider.sends_bytes[i],
			       (const void *)(uintptr_t)sge->addr, sge->length);
		provider.sends_bytes[i] += sge->length;
	}
	provider.sends_count++;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct provider_send *send = &provider.send;
	unsigned n = 0;

	send->posted++;
	send->wr = *wr;
	memset(&send->sge, 0, sizeof(send->sge));
	if (wr->num_sge > 0)
		send->sge = wr->sg_list[0];
	if (wr->send_flags & IBV_SEND_INLINE)
		memcpy(send->inline_data, (const void *)(uintptr_t)send->sge.addr,
		       send->sge.length);
	*bad_wr = wr;
	if (calls_fail("ibv_post_send"))
		return errno;
	for (; wr != NULL; wr = wr->next) {
		*bad_wr = wr;
		if (++n == provider.send_fails_at)
			return ENOMEM;
		record_sent(wr);
	}
	return 0;
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
	record_recv(&provider.recv, wr);
	*bad_wr = wr;
	return calls_fail("ibv_post_recv") ? errno : 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
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
	calls_own_free(srq);
	return failed ? errno : 0;
}

void provider_reset_qp(void)
{
	next_qp_num = 0x11;
	provider.context->ops.post_send = post_send;
	provider.context->ops.post_recv = post_recv;
	provider.context->ops.post_srq_recv = post_srq_recv;
}
