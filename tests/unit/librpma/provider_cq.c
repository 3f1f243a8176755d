/* SPDX-License-Identifier: BSD-3-Clause */
/* provider_cq.c -- completion channels, completion queues, and what waits in them. */
#include "provider_objects.h"

static struct cq foreign_cq;

/* Events of all completion channels, oldest first. */
static struct {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
} cq_events[MAX_WAITING];
static unsigned num_cq_events;

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
	calls_own_free(channel);
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
	calls_own_free(cq);
	return failed ? errno : 0;
}

int provider_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	provider.modify_cq = *attr;
	return calls_fail("ibv_modify_cq") ? errno : 0;
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

void provider_reset_cq(void)
{
	num_cq_events = 0;
	memset(&foreign_cq, 0, sizeof(foreign_cq));
	provider.foreign_cq = &foreign_cq.base;
	provider.context->ops.poll_cq = poll_cq;
	provider.context->ops.req_notify_cq = req_notify_cq;
}
