/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold.c -- findings that are held back: whether they are faults is known later; and waits for
 * events to be acknowledged.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "objects.h"

#define MOST 256u /* each post of a queue looks at all of them */

_Atomic uint32_t check_held;

struct held {
	struct held *next;
	struct check_terms terms;
	uint32_t was; /* the counter */
	struct check_finding finding;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct held *all;
static _Atomic uint32_t errors; /* that are held */

/* The parent will know. */
static void forked(void)
{
	struct held *next;

	for (; all != NULL; all = next) {
		next = all->next;
		free(all);
	}
	atomic_store(&check_held, 0);
	atomic_store(&errors, 0);
}

bool check_holds_errors(void)
{
	return atomic_load(&errors) > 0;
}

const struct process_part hold_part = {.lock = &lock, .forked = forked};

/* The lock is held. */
static struct held **find(const void *queue, enum check_kind kind, uint64_t tag)
{
	struct held **at = &all;

	while (*at != NULL && ((*at)->terms.queue != queue || (*at)->finding.kind != kind ||
			       (*at)->terms.tag != tag))
		at = &(*at)->next;
	return at;
}

static void report_all(int unused)
{
	(void)unused;
	check_release(NULL);
}

void check_hold_on(const struct check_terms *terms, const struct check_finding *finding)
{
	struct held *made;

	pthread_mutex_lock(&lock);
	check_at_end(report_all);
	if (atomic_load(&check_held) < MOST &&
	    *find(terms->queue, finding->kind, terms->tag) == NULL &&
	    (made = malloc(sizeof(*made))) != NULL) {
		*made = (struct held){.next = all, .terms = *terms, .finding = *finding};
		if (terms->counter != NULL)
			made->was = atomic_load(terms->counter);
		all = made;
		atomic_fetch_add(&check_held, 1);
		if (finding->level == CHECK_ERROR)
			atomic_fetch_add(&errors, 1);
	}
	pthread_mutex_unlock(&lock);
}

void check_hold(const void *queue, uint64_t tag, const struct check_finding *finding)
{
	check_hold_on(&(struct check_terms){.queue = queue, .tag = tag}, finding);
}

static void take_out(struct held **at)
{
	if ((*at)->finding.level == CHECK_ERROR)
		atomic_fetch_sub(&errors, 1);
	*at = (*at)->next;
	atomic_fetch_sub(&check_held, 1);
}

void check_drop(const void *queue, enum check_kind kind, uint64_t tag)
{
	struct held **at, *found;

	pthread_mutex_lock(&lock);
	at = find(queue, kind, tag);
	found = *at;
	if (found != NULL)
		take_out(at);
	pthread_mutex_unlock(&lock);
	free(found);
}

void check_drop_kind(const void *queue, enum check_kind kind)
{
	struct held **at = &all, *found;

	pthread_mutex_lock(&lock);
	while ((found = *at) != NULL) {
		if (found->terms.queue == queue && found->finding.kind == kind) {
			take_out(at);
			free(found);
		} else {
			at = &found->next;
		}
	}
	pthread_mutex_unlock(&lock);
}

void check_drop_request(const void *queue, uint64_t request)
{
	struct held **at = &all, *found;

	pthread_mutex_lock(&lock);
	while ((found = *at) != NULL &&
	       (found->terms.request != request || found->terms.queue == queue))
		at = &found->next;
	if (found != NULL)
		take_out(at);
	pthread_mutex_unlock(&lock);
	free(found);
}

/* The next one of the queue, or of any for NULL; NULL: there is none. */
static struct held *take_next(const void *queue)
{
	struct held **at = &all, *found;

	pthread_mutex_lock(&lock);
	while (*at != NULL && queue != NULL && (*at)->terms.queue != queue)
		at = &(*at)->next;
	found = *at;
	if (found != NULL)
		take_out(at);
	pthread_mutex_unlock(&lock);
	return found;
}

void check_drop_all(const void *queue)
{
	struct held *held;

	while (atomic_load(&check_held) > 0 && (held = take_next(queue)) != NULL)
		free(held);
}

static bool has_moved(const struct held *held)
{
	return held->terms.counter != NULL && atomic_load(held->terms.counter) != held->was;
}

void check_release(const void *queue)
{
	struct held *held;

	while (atomic_load(&check_held) > 0 && (held = take_next(queue)) != NULL) {
		if (!has_moved(held))
			check_report(&held->finding);
		free(held);
	}
}

/* --- waiting for acknowledgements --- */

static void tell(struct check_wait *wait, uint32_t events)
{
	char name[OBJECT_NAME_BYTES];
	struct check_finding finding;
	struct object object;

	wait->stack = stack_here();
	objects_describe(wait->object, name, &object);
	check_find(&finding, CHECK_EVENT_UNACKNOWLEDGED, wait->stack,
		   "%s of %s does not return: %u events of it were got and not acknowledged",
		   wait->call, name, events);
	check_place(&finding, "waits at", wait->stack);
	check_place(&finding, "made at", object.made_at);
	check_report(&finding);
}

void check_wait(struct check_wait *wait, pthread_cond_t *cond, pthread_mutex_t *mutex,
		uint32_t events)
{
	struct timespec until;

	if (!check_any || wait->stack != 0) {
		pthread_cond_wait(cond, mutex);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	if (pthread_cond_timedwait(cond, mutex, &until) == ETIMEDOUT)
		tell(wait, events);
}

void check_wait_end(const struct check_wait *wait)
{
	if (wait->stack != 0)
		check_retract(CHECK_EVENT_UNACKNOWLEDGED, wait->stack,
			      "the events were acknowledged at last");
}
