/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_wait.c -- send queues that wait for a time: a receiver that was not ready, a target that
 * is not there yet, an injected delay.
 *
 * They are run by threads that poll a CQ, and by a timer of the agent for those that sleep. While
 * a thread polls and the CQs of a queue are not armed, the timer is later, lest the agent meets
 * that thread at a lock at every operation.
 * The list's lock is taken after a sq.lock, never before one: sq_progress() takes a queue
 * from the list, lets the lock go and runs it; `runners` keeps it from being destroyed.
 */
#include <pthread.h>

#include "soft_device/process/agent.h"
#include "soft_device/process/process.h"
#include "sq.h"
#include "sq_adversary.h"
#include "sq_check.h"

/*
 * A thread that polled so recently will do so again, and the agent comes so much later. Where that
 * was wrong, the agent comes at once for a while.
 */
#define POLLED_NS   10000
#define LATER_NS    1000000
#define DISTRUST_NS 10000000

_Atomic uint32_t sq_waiting;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ran = PTHREAD_COND_INITIALIZER;
static struct send_queue *first;
static struct timer *timer;
static uint64_t timer_ns;	  /* when it is due; 0: off */
static _Atomic uint64_t earliest; /* wake_ns of all that wait */
static _Atomic uint64_t polled;	  /* when a thread polled while something waited */
static uint64_t distrusted_until; /* the agent waits for no thread that polls; under the lock */

/* Calls of a child of fork() start with nothing. */
static void forget(void)
{
	pthread_cond_init(&ran, NULL);
	first = NULL;
	timer = NULL;
	timer_ns = 0;
	atomic_store(&sq_waiting, 0);
	sq_check_forget();
	sq_adversary_forget();
}

/* Sends what checks or the adversary have put off, as a NIC would. */
static void leave(void)
{
	if (process_current == NULL)
		return;
	if (check_any)
		sq_check_progress(SQ_ALL_CQS);
	if (adversary_any)
		sq_adversary_run_all();
}

const struct process_part sq_wait_part = {.lock = &lock, .forked = forget, .leave = leave};

static void timer_due(void *unused);

/* Makes sure that the agent looks at the queues at this time; the lock is held. */
static void wake_agent_at(uint64_t at_ns)
{
	if (timer_ns != 0 && timer_ns <= at_ns)
		return;
	if (timer == NULL)
		timer = agent_timer_new(timer_due, NULL);
	if (timer == NULL)
		return; /* threads that poll go on */
	timer_ns = at_ns;
	agent_timer_set(timer, at_ns);
}

bool sq_wait_is_armed(uint32_t cq)
{
	const struct shared_cq *shared = &process_current->segment->cq[cq];

	return atomic_load_explicit(&shared->armed, memory_order_relaxed) != ARM_NONE;
}

/* When the agent has to run a queue that no thread has run by then. */
static uint64_t agent_due_ns(const struct send_queue *sq, uint64_t now_ns)
{
	const uint64_t polled_ns = atomic_load_explicit(&polled, memory_order_relaxed);
	bool may_sleep = sq_wait_is_armed(sq->cq) || sq_wait_is_armed(sq->shared->recv_cq);

	if (may_sleep || now_ns > polled_ns + POLLED_NS || now_ns < distrusted_until)
		return sq->wake_ns;
	return sq->wake_ns + LATER_NS;
}

static void update_earliest(void)
{
	const uint64_t now_ns = process_now_ns();
	uint64_t at_ns = UINT64_MAX, agent_ns = UINT64_MAX;

	for (struct send_queue *sq = first; sq != NULL; sq = sq->next_waiting) {
		uint64_t due_ns = agent_due_ns(sq, now_ns);

		if (sq->wake_ns < at_ns)
			at_ns = sq->wake_ns;
		if (due_ns < agent_ns)
			agent_ns = due_ns;
	}
	atomic_store(&earliest, at_ns);
	if (first != NULL)
		wake_agent_at(agent_ns);
}

static void take_out(struct send_queue *sq)
{
	LIST_TAKE_OUT(first, sq, next_waiting);
	sq->waiting = false;
	atomic_fetch_sub(&sq_waiting, 1);
}

void sq_wait_until(struct send_queue *sq, uint64_t at_ns)
{
	pthread_mutex_lock(&lock);
	sq->wake_ns = at_ns;
	if (!sq->waiting) {
		sq->waiting = true;
		sq->next_waiting = first;
		first = sq;
		atomic_fetch_add(&sq_waiting, 1);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

void sq_wait_end(struct send_queue *sq)
{
	do {
		pthread_mutex_lock(&lock);
		while (sq->waiting || sq->runners != 0) {
			if (sq->waiting)
				take_out(sq);
			if (sq->runners != 0)
				pthread_cond_wait(&ran, &lock);
		}
		pthread_mutex_unlock(&lock);
		/* a poll runs it under this lock alone, and may have it wait: run_for_poll() */
		shared_lock_take(&sq->lock);
		shared_lock_release(&sq->lock);
	} while (sq->waiting);
}

static struct send_queue *first_due(uint64_t now_ns, bool by_agent)
{
	struct send_queue *sq = first;

	while (sq != NULL && (by_agent ? agent_due_ns(sq, now_ns) : sq->wake_ns) > now_ns)
		sq = sq->next_waiting;
	return sq;
}

/* Lets the lock go meanwhile. */
static void run_one(struct send_queue *sq)
{
	take_out(sq);
	sq->runners++;
	pthread_mutex_unlock(&lock);
	sq_run(sq);
	pthread_mutex_lock(&lock);
	if (--sq->runners == 0)
		pthread_cond_broadcast(&ran);
}

static void run_due(uint64_t now_ns, bool by_agent)
{
	struct send_queue *sq;

	if (now_ns < atomic_load(&earliest))
		return;
	pthread_mutex_lock(&lock);
	while ((sq = first_due(now_ns, by_agent)) != NULL) {
		if (by_agent && now_ns >= sq->wake_ns + LATER_NS)
			distrusted_until = now_ns + DISTRUST_NS;
		run_one(sq);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

static void run_all(void)
{
	pthread_mutex_lock(&lock);
	for (uint32_t left = atomic_load(&sq_waiting); left > 0 && first != NULL; left--) {
		struct send_queue *last = first;

		while (last->next_waiting != NULL)
			last = last->next_waiting; /* those that have to wait again come first */
		run_one(last);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

/* The last one, of those that complete into this CQ if any does; it comes to the front. */
static struct send_queue *next_of(uint32_t cq)
{
	struct send_queue **last = &first, **of_cq = NULL, *sq;

	for (struct send_queue **at = &first; *at != NULL; at = &(*at)->next_waiting) {
		last = at;
		if ((*at)->cq == cq)
			of_cq = at;
	}
	if (of_cq != NULL)
		last = of_cq;
	sq = *last;
	if (sq == NULL || sq == first)
		return sq;
	*last = sq->next_waiting;
	sq->next_waiting = first;
	first = sq;
	return sq;
}

/*
 * It mostly stays in the list, so that the next request finds it there: the agent takes it out when
 * its time has come and it has nothing more to do. False: it had nothing, and is not the only one.
 */
static bool run_for_poll(uint32_t cq)
{
	bool is_taken, had_work, is_alone;
	struct send_queue *sq;

	pthread_mutex_lock(&lock);
	sq = next_of(cq);
	is_alone = sq == NULL || first->next_waiting == NULL;
	is_taken = sq != NULL && (shared_lock_try(&sq->lock) || shared_lock_take_now(&sq->lock));
	pthread_mutex_unlock(&lock);
	if (!is_taken)
		return true; /* a thread posts to it, or runs it */
	had_work = sq->next != sq->posted;
	sq_run_locked(sq);
	if (sq_check_idles(sq)) {
		pthread_mutex_lock(&lock);
		if (sq->waiting)
			take_out(sq);
		pthread_mutex_unlock(&lock);
	}
	shared_lock_release(&sq->lock);
	return had_work || is_alone;
}

void sq_progress_of(uint32_t cq)
{
	if (cq == SQ_ALL_CQS)
		run_all();
	else if (!run_for_poll(cq))
		run_for_poll(SQ_ALL_CQS); /* no queue has that CQ: each in its turn */
}

void sq_progress_turn(void)
{
	struct send_queue *next;

	atomic_store_explicit(&polled, process_now_ns(), memory_order_relaxed);
	pthread_mutex_lock(&lock);
	next = first;
	for (struct send_queue *sq = first; sq != NULL; sq = sq->next_waiting)
		if (sq_adversary_turn(sq) < sq_adversary_turn(next))
			next = sq;
	if (next != NULL) {
		sq_adversary_take_turn(next);
		run_one(next);
	}
	update_earliest();
	pthread_mutex_unlock(&lock);
}

void sq_progress(void)
{
	const uint64_t now_ns = process_now_ns();

	atomic_store_explicit(&polled, now_ns, memory_order_relaxed);
	run_due(now_ns, false);
}

void sq_wait_armed(void)
{
	pthread_mutex_lock(&lock);
	update_earliest();
	pthread_mutex_unlock(&lock);
}

static void timer_due(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	timer_ns = 0;
	pthread_mutex_unlock(&lock);
	run_due(process_now_ns(), true);
	sq_wait_armed();
}
