/* SPDX-License-Identifier: BSD-3-Clause */
/* held.c -- see held.h. The agent tries again from time to time. */
#include "held.h"

#include <stdlib.h>
#include <string.h>

#include "mr.h"
#include "objects.h"
#include "qp.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/process/agent.h"
#include "soft_device/process/process.h"

#define AGAIN_NS UINT64_C(50000000)

/* Objects lock. */
static struct qp *qps;
static struct mr *mrs;
static struct timer *timer;

static void try_again(void *unused);

static void set_timer(void)
{
	if (timer == NULL)
		timer = agent_timer_new(try_again, NULL);
	if (timer != NULL)
		agent_timer_set(timer, process_now_ns() + AGAIN_NS);
}

static void name_holder(const struct shared_lock *lock, const char *what)
{
	static char told[64]; /* about this one */
	char holder[64];

	if (shared_lock_describe(lock, holder) && strcmp(holder, told) != 0) {
		memcpy(told, holder, sizeof(told));
		process_warn("%s %s until it goes on or ends", holder, what);
	}
	process_verbose("%s %s", holder, what);
}

bool held_uses_cq(uint32_t index)
{
	struct qp *qp = qps;

	while (qp != NULL && qp->shared->recv_cq != index)
		qp = qp->next_held;
	return qp != NULL;
}

bool held_uses_srq(uint32_t index)
{
	struct qp *qp = qps;

	while (qp != NULL && qp->shared->srq != index)
		qp = qp->next_held;
	return qp != NULL;
}

void held_add_qp(struct qp *qp)
{
	name_holder(&qp->shared->lock, "holds a queue pair that was destroyed");
	qp->next_held = qps;
	qps = qp;
	set_timer();
}

void held_add_mr(struct mr *mr)
{
	name_holder(&process_current->segment->qp[mr->settled].lock,
		    "holds a memory region that was deregistered");
	mr->next_held = mrs;
	mrs = mr;
	set_timer();
}

static void free_qps(void)
{
	struct qp **at = &qps, *qp;
	uint32_t cq, srq;

	while ((qp = *at) != NULL) {
		if (!shared_lock_take_now(&qp->shared->lock)) {
			at = &qp->next_held;
			continue;
		}
		*at = qp->next_held;
		cq = qp->shared->recv_cq;
		srq = qp->shared->srq;
		/* what the holder pushed once it went on */
		completion_purge(&process_current->segment->cq[cq], qp->ibv.qp_num);
		qp_let_go(qp);
		if (!held_uses_cq(cq))
			cq_let_go(cq);
		if (srq != SOFT_NONE && !held_uses_srq(srq))
			srq_let_go(srq);
	}
}

static void free_mrs(void)
{
	struct mr **at = &mrs, *mr;

	while ((mr = *at) != NULL) {
		if (!mr_settle(mr, 0)) {
			at = &mr->next_held;
			continue;
		}
		*at = mr->next_held;
		mr_let_go(mr);
	}
}

static void try_again(void *unused)
{
	(void)unused;
	process_raise();
	pthread_mutex_lock(&process_objects);
	free_qps();
	free_mrs();
	if (qps != NULL || mrs != NULL)
		set_timer();
	pthread_mutex_unlock(&process_objects);
}

void held_raise_later(void)
{
	set_timer();
}

static void forget(void)
{
	qps = NULL;
	mrs = NULL;
	timer = NULL;
}

const struct process_part held_part = {.forked = forget};
