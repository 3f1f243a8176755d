/* SPDX-License-Identifier: BSD-3-Clause */
/* timers.c -- the agent's timers, behind one timerfd that it watches: see agent.h. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent.h"
#include "agent_private.h"
#include "process.h"

struct timer {
	struct source source; /* first */
	uint64_t at_ns;	      /* 0: off */
	void (*due)(void *arg);
	void *arg;
};

/* Under the agent's lock. */
static struct {
	struct source *list;
	struct source *old; /* what a child inherited and must not touch; here for leak checkers */
	uint64_t armed_ns;  /* what the clock is set to; 0: off */
	int clock;
} timers = {.clock = -1};

/* Callers hold the lock. */
static void arm_clock(uint64_t at_ns)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(at_ns / 1000000000),
			     .tv_nsec = (long)(at_ns % 1000000000)},
	};

	timers.armed_ns = at_ns;
	timerfd_settime(timers.clock, TFD_TIMER_ABSTIME, &when, NULL);
}

struct timer *agent_timer_new(void (*due)(void *arg), void *arg)
{
	struct timer *timer = calloc(1, sizeof(*timer));

	if (timer == NULL)
		return NULL;
	timer->due = due;
	timer->arg = arg;
	agent_take();
	agent_enter(&timers.list, &timer->source);
	agent_release();
	return timer;
}

void agent_timer_set(struct timer *timer, uint64_t at_ns)
{
	agent_take();
	if (agent_is_live(&timer->source)) {
		timer->at_ns = at_ns;
		if (at_ns != 0 && (timers.armed_ns == 0 || at_ns < timers.armed_ns))
			arm_clock(at_ns);
	}
	agent_release();
}

void agent_timer_delete(struct timer *timer)
{
	if (timer == NULL)
		return;
	agent_take();
	if (agent_is_live(&timer->source)) {
		timer->at_ns = 0;
		agent_retire(&timer->source);
	}
	agent_release();
}

/* The first timer that is due, and when the earliest of the others is. Callers hold the lock. */
static struct timer *find_due(uint64_t now_ns, uint64_t *earliest_ns)
{
	*earliest_ns = 0;
	for (struct source *at = timers.list; at != NULL; at = at->next) {
		struct timer *timer = (struct timer *)at;

		if (timer->at_ns == 0)
			continue;
		if (timer->at_ns <= now_ns)
			return timer;
		if (*earliest_ns == 0 || timer->at_ns < *earliest_ns)
			*earliest_ns = timer->at_ns;
	}
	return NULL;
}

/*
 * Runs what was due when it began: a timer that is set to the past again by its callback takes
 * its turn after the sockets.
 */
static void clock_expired(void *arg, uint32_t events)
{
	const uint64_t now_ns = process_now_ns();
	struct timer *timer;
	uint64_t earliest_ns;

	(void)arg;
	(void)events;
	agent_drain(timers.clock);
	agent_take();
	timers.armed_ns = 0;
	while ((timer = find_due(now_ns, &earliest_ns)) != NULL && timers.armed_ns == 0) {
		timer->at_ns = 0;
		agent_begin(timer);
		timer->due(timer->arg);
		agent_end();
	}
	if (timer != NULL)
		arm_clock(now_ns);
	else if (earliest_ns != 0 && (timers.armed_ns == 0 || earliest_ns < timers.armed_ns))
		arm_clock(earliest_ns);
	agent_release();
}

int timers_open(void)
{
	timers.clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (timers.clock < 0 || agent_watch(timers.clock, EPOLLIN, clock_expired, NULL) == NULL)
		return -errno;
	return 0;
}

int timers_fd(void)
{
	return timers.clock;
}

void timers_close(void)
{
	if (timers.clock >= 0)
		close(timers.clock);
	timers.clock = -1;
}

void timers_free_dead(void)
{
	agent_free_dead(&timers.list);
}

void timers_forked(void)
{
	timers.old = timers.list;
	timers.list = NULL;
	timers.armed_ns = 0;
	timers.clock = -1;
}
