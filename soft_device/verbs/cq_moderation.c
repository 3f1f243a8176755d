/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cq_moderation.c -- ibv_modify_cq(): events of a CQ that wait for more completions.
 *
 * completion_push() counts completions. The first that gives no event raises a bit, and a timer
 * of the agent gives the event after the period. If either number is 0, moderation is off.
 */
#include <errno.h>

#include "cq.h"
#include "objects.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/agent.h"

static void period_over(void *arg)
{
	struct cq *cq = arg;

	if (completion_end_hold(cq->shared))
		peer_ring(process_current->self, cq->shared);
}

/* Objects lock held. */
static int make_timer(struct cq *cq)
{
	if (cq->timer == NULL)
		cq->timer = agent_timer_new(period_over, cq);
	return cq->timer == NULL ? ENOMEM : 0;
}

/* Objects lock held: cq_moderation_begin() reads the period under it. */
static void set(struct shared_cq *shared, const struct ibv_moderate_cq *moderate)
{
	shared_lock_take(&shared->lock);
	shared->moderate_count = moderate->cq_count;
	shared->moderate_us = moderate->cq_period;
	shared_lock_release(&shared->lock);
}

int cq_modify(struct ibv_cq *ibv, struct ibv_modify_cq_attr *attr)
{
	struct cq *cq = cq_of(ibv);
	int error;

	ENTER_AS("ibv_modify_cq", cq->generation);
	if (attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE)
		return REFUSE_OF(EINVAL, "ibv_modify_cq",
				 "CQ %u: attr_mask %#x, expected IBV_CQ_ATTR_MODERATE", cq->index,
				 attr->attr_mask);
	if (attr->attr_mask == 0)
		return 0;
	pthread_mutex_lock(&process_objects);
	error = make_timer(cq);
	if (error == 0)
		set(cq->shared, &attr->moderate);
	pthread_mutex_unlock(&process_objects);
	return error == 0 ? 0 : call_error(error);
}

void cq_moderation_begin(struct cq *cq)
{
	const uint64_t period_ns = (uint64_t)cq->shared->moderate_us * 1000;

	if (cq->timer != NULL)
		agent_timer_set(cq->timer, process_now_ns() + period_ns);
}

void cq_moderation_end(struct cq *cq)
{
	struct timer *timer;

	pthread_mutex_lock(&process_objects);
	timer = cq->timer;
	cq->timer = NULL;
	pthread_mutex_unlock(&process_objects);
	agent_timer_delete(timer);
}
