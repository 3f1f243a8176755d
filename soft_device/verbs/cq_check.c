/* SPDX-License-Identifier: BSD-3-Clause */
/* cq_check.c -- see cq_check.h. */
#include "cq_check.h"

#include <fcntl.h>

#include "qp_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/check/watch.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/process/agent.h"

#define LEFT_LEAST 4u /* completions left that make it a matter of habit */
#define LATE_NS	   UINT64_C(500000000)
#define EMPTY_EACH 4096u
#define EMPTY_NS   UINT64_C(1000000000)
#define WAIT_NS	   UINT64_C(1000000000)

/* A thread has slept while completions were there. */
static void tell_late(const struct cq *cq, bool armed_late, uint32_t stack, const char *place)
{
	struct check_finding finding;

	check_find(&finding, CHECK_LOST_WAKEUP, stack,
		   armed_late ? "completions were in CQ %u when it was armed, it was not polled "
				"after that, and an event is waited for"
			      : "completions are in CQ %u, which is not armed, and an event is "
				"waited for",
		   cq->index);
	check_place(&finding, place, stack);
	check_report(&finding);
}

static __attribute__((noinline)) void end_armed(struct cq *cq)
{
	const uint64_t armed_ns = atomic_exchange(&cq->armed_late_ns, 0);

	if (armed_ns != 0 && cq->channel != NULL && process_now_ns() - armed_ns > LATE_NS)
		tell_late(cq, true, atomic_load(&cq->armed_at), "armed at");
}

void cq_check_poll(struct cq *cq)
{
	atomic_store_explicit(&cq->polled_by, pthread_self(), memory_order_relaxed);
	if (atomic_fetch_add_explicit(&cq->polls, 1, memory_order_relaxed) == 0 &&
	    atomic_load(&check_held) > 0)
		check_drop(cq, CHECK_CQ_NEVER_POLLED, 0);
	if (__builtin_expect(atomic_load(&cq->armed_late_ns) != 0, 0))
		end_armed(cq);
	if (atomic_load_explicit(&sq_waiting, memory_order_relaxed) != 0)
		sq_check_progress(cq->index);
}

/* A loop that polls other queues as well does not wait for this one. */
static bool is_one_of_many(const struct cq *cq)
{
	return qp_check_polls_of_others(cq) - atomic_load(&cq->others_polled) >= EMPTY_EACH / 2;
}

/* The queue was empty for long: now and then it is asked whether anything can come. */
static void look_at_empty(struct cq *cq)
{
	const uint32_t polls = atomic_fetch_add(&cq->empty_polls, 1) + 1;
	const uint64_t since_ns = atomic_load(&cq->empty_since_ns);
	struct check_finding finding;
	uint32_t stack;

	if (polls % EMPTY_EACH != 0)
		return;
	if (since_ns == 0) {
		atomic_store(&cq->others_polled, qp_check_polls_of_others(cq));
		atomic_store(&cq->empty_since_ns, process_now_ns());
	}
	if (since_ns == 0 || process_now_ns() - since_ns < EMPTY_NS || is_one_of_many(cq) ||
	    !qp_check_feeds_nothing(cq))
		return;
	atomic_store(&cq->empty_since_ns, 0);
	stack = stack_here();
	check_find(&finding, CHECK_WAIT_FOR_NOTHING, stack,
		   "CQ %u is polled, and nothing can come: no receive is posted, and no request "
		   "that was posted is signaled",
		   cq->index);
	check_place(&finding, "polled at", stack);
	check_report(&finding);
}

void cq_check_polled(struct cq *cq, const struct ibv_wc *wc, int count)
{
	bool are_good = true;

	if (count == 0)
		look_at_empty(cq);
	else
		atomic_store_explicit(&cq->empty_since_ns, 0, memory_order_relaxed);
	for (int i = 0; i < count; i++) {
		if (wc[i].status == IBV_WC_SUCCESS)
			continue;
		sq_check_polled(&wc[i]);
		are_good = false;
	}
	if (__builtin_expect(watch_any, 0) && count > 0)
		watch_settle(are_good);
}

/* Calls visit() for each completion in the ring; false: a writer holds it for long. */
static bool each_left(struct shared_cq *shared,
		      void (*visit)(const struct shared_cqe *cqe, uint32_t *count), uint32_t *count)
{
	const struct shared_slot *ring;

	if (!shared_lock_take_soon(&shared->lock))
		return false;
	ring = completion_ring(process_current->segment, shared);
	for (uint32_t at = atomic_load(&shared->tail); at != atomic_load(&shared->head); at++) {
		const struct shared_slot *slot = &ring[at & (shared->slots - 1)];

		if (atomic_load(&slot->use) == ((uint64_t)at << 32 | SLOT_FULL))
			visit(&slot->cqe, count);
	}
	shared_lock_release(&shared->lock);
	return true;
}

static void count_good(const struct shared_cqe *cqe, uint32_t *count)
{
	*count += cqe->status == IBV_WC_SUCCESS;
}

static void count_solicited(const struct shared_cqe *cqe, uint32_t *count)
{
	*count += cqe->solicited;
}

static bool has_solicited(struct shared_cq *shared)
{
	uint32_t count = 0;

	each_left(shared, count_solicited, &count);
	return count > 0;
}

/* Completions that are there give no event; others than solicited ones are not to give any. */
void cq_check_armed(struct cq *cq, bool solicited_only)
{
	if (completion_none(cq->shared) || (solicited_only && !has_solicited(cq->shared))) {
		atomic_store(&cq->armed_late_ns, 0);
		return;
	}
	atomic_store(&cq->armed_at, stack_here());
	atomic_store(&cq->armed_late_ns, process_now_ns());
}

void cq_check_overrun(const struct cq *cq)
{
	const uint32_t made_at = objects_made_at(OBJECT_CQ, &cq->ibv);
	struct check_finding finding;

	check_find(&finding, CHECK_CQ_OVERRUN, made_at,
		   "CQ %u overflowed: it has %d entries, and the queues that complete into it %llu",
		   cq->index, cq->ibv.cqe, (unsigned long long)qp_check_sum(cq));
	check_line(&finding, "polls", "%u so far", atomic_load(&cq->polls));
	check_place(&finding, "last post at", sq_check_last());
	check_place(&finding, "created at", made_at);
	check_report(&finding);
}

/* Successful completions in the ring. */
static uint32_t count_left(struct shared_cq *shared)
{
	uint32_t left = 0;

	return each_left(shared, count_good, &left) ? left : 0;
}

void cq_check_end_of_some(struct cq *cq)
{
	const uint32_t made_at = objects_made_at(OBJECT_CQ, &cq->ibv);
	const bool may_be = atomic_load(&cq->polls) == 0 && !check_has_errors();
	const uint32_t left = may_be ? count_left(cq->shared) : 0;
	struct check_finding finding;

	if (left < LEFT_LEAST)
		return;
	check_find(&finding, CHECK_CQ_NEVER_POLLED, made_at,
		   "%u completions came to CQ %u, which was never polled", left, cq->index);
	check_place(&finding, "created at", made_at);
	check_hold(cq, 0, &finding); /* it may be polled yet */
}

void cq_check_end(struct cq *cq)
{
	cq_check_end_of_some(cq);
	check_release(cq);
}

/* By another thread than the one that waits. */
static bool is_polled_elsewhere(const struct channel *channel, const struct cq *cq)
{
	return atomic_load(&cq->polls) > 0 &&
	       !pthread_equal(atomic_load(&cq->polled_by), channel->waits_by);
}

/*
 * No event is there, none of the queues is armed in time, so none will come; and one of them has
 * completions. A queue that is polled now and then is right, beside one that is slept for or
 * beside a thread that sleeps.
 */
static const struct cq *find_late(const struct channel *channel)
{
	const struct cq *late = NULL;

	for (const struct cq *cq = channel->cqs; cq != NULL; cq = cq->next_on_channel) {
		const bool is_armed = atomic_load(&cq->shared->armed) != ARM_NONE;
		const bool is_late = atomic_load(&cq->armed_late_ns) != 0;

		if (atomic_load(&cq->shared->events) != 0 || (is_armed && !is_late))
			return NULL;
		if (!completion_none(cq->shared) && !is_polled_elsewhere(channel, cq))
			late = cq;
	}
	return late;
}

/* All under the objects lock. */
static struct timer *looking; /* look_at_waits() */
static uint64_t looking_ns;   /* when it is due; 0: off */

void cq_check_forget(void)
{
	looking = NULL;
	looking_ns = 0;
}

static void look_at_wait(struct channel *channel, void *next_ns)
{
	const struct cq *late;

	if (channel->waits == 0 || channel->look_ns == 0)
		return;
	if (channel->look_ns > process_now_ns()) {
		if (channel->look_ns < *(uint64_t *)next_ns)
			*(uint64_t *)next_ns = channel->look_ns;
		return;
	}
	channel->look_ns = 0;
	late = find_late(channel);
	if (late != NULL)
		tell_late(late, atomic_load(&late->armed_late_ns) != 0, channel->waits_at,
			  "waits at");
}

static void look_at_waits(void *unused)
{
	uint64_t next_ns = UINT64_MAX;

	(void)unused;
	pthread_mutex_lock(&process_objects);
	channel_each(look_at_wait, &next_ns);
	looking_ns = next_ns == UINT64_MAX ? 0 : next_ns;
	agent_timer_set(looking, looking_ns);
	pthread_mutex_unlock(&process_objects);
}

/*
 * The thread waits as without checks, so that a signal ends the wait or does not; a second is long
 * for one that is about to be woken, and then the agent looks.
 */
void cq_check_wait(struct channel *channel, uint32_t stack)
{
	if (atomic_load(&sq_waiting) != 0)
		sq_check_progress(SQ_ALL_CQS);
	pthread_mutex_lock(&process_objects);
	channel->waits++;
	channel->waits_at = stack;
	channel->waits_by = pthread_self();
	channel->look_ns = 0;
	if ((fcntl(channel->ibv.fd, F_GETFL) & O_NONBLOCK) == 0)
		channel->look_ns = process_now_ns() + WAIT_NS;
	if (looking == NULL)
		looking = agent_timer_new(look_at_waits, NULL);
	if (looking_ns == 0 && looking != NULL && channel->look_ns != 0)
		agent_timer_set(looking, looking_ns = channel->look_ns);
	pthread_mutex_unlock(&process_objects);
}

void cq_check_wait_end(struct channel *channel)
{
	pthread_mutex_lock(&process_objects);
	channel->waits--;
	pthread_mutex_unlock(&process_objects);
}

void cq_check_acknowledged(struct cq *cq)
{
	struct check_finding finding;
	uint32_t stack;

	if (cq->ibv.comp_events_completed <= cq->events_got)
		return;
	stack = stack_here();
	check_find(&finding, CHECK_EVENT_ACKNOWLEDGED_TWICE, stack,
		   "%u events of CQ %u are acknowledged, and %u were got",
		   cq->ibv.comp_events_completed, cq->index, cq->events_got);
	check_place(&finding, "acknowledged at", stack);
	check_place(&finding, "created at", objects_made_at(OBJECT_CQ, &cq->ibv));
	check_report(&finding);
	cq->ibv.comp_events_completed = cq->events_got; /* or its destruction would never end */
}
