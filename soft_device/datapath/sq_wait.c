/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_wait.c -- send queues that wait for a time: a receiver that was not ready, a target that
 * is not there yet, an injected delay.
 *
 * They are run by whoever polls a CQ, and by a timer of the agent for those that sleep.
 * The list's lock is taken after a sq.lock, never before one: sq_progress() takes a queue
 * from the list, lets the lock go and runs it; `runners` keeps it from being destroyed.
 */
#include <pthread.h>

#include "soft_device/process/agent.h"
#include "soft_device/process/process.h"
#include "soft_device/verbs/qp.h"
#include "sq.h"

_Atomic uint32_t sq_waiting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER;
static struct qp *first;
static struct timer *timer;
static uint64_t timer_ns;	  /* when it is due; 0: off */
static _Atomic uint64_t earliest; /* wake_ns of all that wait */

/* Calls of a child of fork() start with nothing. */
static void forget(void)
{
	pthread_cond_init(&ran, NULL);
	first = NULL;
	timer = NULL;
	timer_ns = 0;
	atomic_store(&sq_waiting, 0);
}

const struct process_part sq_wait_part = {.lock = &lock, .forked = forget};

static void timer_due(void *unused);

/* Makes sure that the agent looks at the queues at this time; the lock is held. */
static void wake_agent_at(uint64_t at_ns)
{
	if (timer_ns != 0 && timer_ns <= at_ns)
		return;
	if (timer == NULL)
		timer = agent_timer_new(timer_due, NULL);
	if (timer == NULL)
		return; /* those who poll go on */
	timer_ns = at_ns;
	agent_timer_set(timer, at_ns);
}

static void update_earliest(void)
{
	uint64_t at_ns = UINT64_MAX;

	for (struct qp *qp = first; qp != NULL; qp = qp->sq.next_waiting)
		if (qp->sq.wake_ns < at_ns)
			at_ns = qp->sq.wake_ns;
	atomic_store(&earliest, at_ns);
	if (first != NULL)
		wake_agent_at(at_ns);
}

static void take_out(struct qp *qp)
{
	struct qp **at = &first;

	while (*at != qp)
		at = &(*at)->sq.next_waiting;
	*at = qp->sq.next_waiting;
	qp->sq.waiting = false;
	atomic_fetch_sub(&sq_waiting, 1);
}

void sq_wait_until(struct qp *qp, uint64_t at_ns)
{
	pthread_mutex_lock(&lock);
	qp->sq.wake_ns = at_ns;
	if (!qp->sq.waiting) {
		qp->sq.waiting = true;
		qp->sq.next_waiting = first;
		first = qp;
		atomic_fetch_add(&sq_waiting, 1);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

void sq_wait_end(struct qp *qp)
{
	pthread_mutex_lock(&lock);
	while (qp->sq.waiting || qp->sq.runners != 0) {
		if (qp->sq.waiting)
			take_out(qp);
		if (qp->sq.runners != 0)
			pthread_cond_wait(&ran, &lock);
	}
	pthread_mutex_unlock(&lock);
}

static struct qp *first_due(uint64_t now_ns)
{
	struct qp *qp = first;

	while (qp != NULL && qp->sq.wake_ns > now_ns)
		qp = qp->sq.next_waiting;
	return qp;
}

void sq_progress(void)
{
	uint64_t now_ns = process_now_ns();
	struct qp *qp;

	if (now_ns < atomic_load(&earliest))
		return;
	pthread_mutex_lock(&lock);
	while ((qp = first_due(now_ns)) != NULL) {
		take_out(qp);
		qp->sq.runners++;
		pthread_mutex_unlock(&lock);
		sq_run(qp);
		pthread_mutex_lock(&lock);
		if (--qp->sq.runners == 0)
			pthread_cond_broadcast(&ran);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

static void timer_due(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	timer_ns = 0;
	pthread_mutex_unlock(&lock);
	sq_progress();
	pthread_mutex_lock(&lock);
	update_earliest();
	pthread_mutex_unlock(&lock);
}
