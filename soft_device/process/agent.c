/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.c -- the one thread of the device: epoll, watches, timers, calls.
 *
 * Everything it serves is a watch: the kick, the wake-up for calls and the timerfd too. One
 * lock guards the lists and is never held around a callback; a removed watch or timer is marked
 * dead, and freed by the agent when no batch of events can name it any more.
 *
 * A fork() takes the lock, so that the child finds whole lists: it closes every watched fd,
 * for a socket that a child keeps open would hide the parent's death from its peers.
 */
#include "agent.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "process.h"

#define BATCH	 64
#define SLICE_NS 100000 /* the shortest there is */
#define LOOKS	 64u	/* before it sleeps, where more is about to come: 20 us or so */

/* What watches and timers have in common; under the lock. */
struct source {
	struct source *next;
	bool dead; /* freed when no batch of events can name it */
	uint32_t generation;
};

struct watch {
	struct source source; /* first */
	int fd;
	void (*ready)(void *arg, uint32_t events);
	void *arg;
};

struct timer {
	struct source source; /* first */
	uint64_t at_ns;	      /* 0: off */
	void (*due)(void *arg);
	void *arg;
};

struct call {
	struct call *next;
	void (*run)(void *arg);
	void *arg;
};

static struct agent {
	pthread_mutex_t lock;
	pthread_cond_t returned; /* a callback has, and a thread waits for it */
	unsigned waiting;
	void *running;	  /* the watch or timer whose callback runs */
	uint64_t returns; /* callbacks that have returned */
	pthread_t thread;
	_Atomic bool leaving;
	struct source *watches;
	struct source *timers;
	struct call *calls; /* oldest first */
	struct call **last_call;
	uint64_t armed_ns; /* what the timerfd is set to; 0: off */
	bool has_dead;
	bool started;
	uint32_t generation; /* raised in the child of a fork() */
	int epoll;
	int kick;
	int wake;
	int clock;
	/* what a child inherited and must not touch; here for leak checkers */
	struct source *old_watches;
	struct source *old_timers;
	struct call *old_calls;
} agent = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.returned = PTHREAD_COND_INITIALIZER,
	.last_call = &agent.calls,
	.epoll = -1,
	.kick = -1,
	.wake = -1,
	.clock = -1,
};

static __thread bool on_agent;
static unsigned looks = LOOKS, looks_left; /* its thread's; fewer where they find nothing */

static void take(void)
{
	pthread_mutex_lock(&agent.lock);
}

static void release(void)
{
	pthread_mutex_unlock(&agent.lock);
}

/* A write to an eventfd fails only when its counter is full: then it rings already. */
static void ring(int fd)
{
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void drain(int fd)
{
	uint64_t count;
	ssize_t got = read(fd, &count, sizeof(count));

	(void)got;
}

/* Callers hold the lock. After it no thread but the caller may be in the callback of `what`. */
static void wait_returned(const void *what)
{
	if (agent_is_current())
		return;
	agent.waiting++;
	while (agent.running == what)
		pthread_cond_wait(&agent.returned, &agent.lock);
	agent.waiting--;
}

void agent_settle(void)
{
	uint64_t returns;

	if (agent_is_current())
		return;
	take();
	returns = agent.returns;
	agent.waiting++;
	while (agent.running != NULL && agent.returns == returns)
		pthread_cond_wait(&agent.returned, &agent.lock);
	agent.waiting--;
	release();
}

/* Callers hold the lock, before and after a callback without it. */
static void begin(void *what)
{
	agent.running = what;
	release();
}

static void end(void)
{
	take();
	agent.running = NULL;
	agent.returns++;
	if (agent.waiting > 0)
		pthread_cond_broadcast(&agent.returned);
}

static void enter(struct source **list, struct source *source)
{
	source->generation = agent.generation;
	source->next = *list;
	*list = source;
}

static bool is_live(const struct source *source)
{
	return !source->dead && source->generation == agent.generation;
}

/* The caller must not hold what its callback takes. */
static void retire(struct source *source)
{
	source->dead = true;
	wait_returned(source);
	agent.has_dead = true;
}

struct watch *agent_watch(int fd, uint32_t events, void (*ready)(void *arg, uint32_t events),
			  void *arg)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	struct epoll_event event = {.events = events, .data.ptr = watch};

	if (watch == NULL)
		return NULL;
	watch->fd = fd;
	watch->ready = ready;
	watch->arg = arg;
	take();
	if (epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		release();
		free(watch);
		return NULL;
	}
	enter(&agent.watches, &watch->source);
	release();
	return watch;
}

int agent_watch_change(struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	int result = 0;

	take();
	if (!is_live(&watch->source))
		result = -EINVAL;
	else if (epoll_ctl(agent.epoll, EPOLL_CTL_MOD, watch->fd, &event) != 0)
		result = -errno;
	release();
	return result;
}

void agent_unwatch(struct watch *watch)
{
	if (watch == NULL)
		return;
	take();
	if (is_live(&watch->source)) {
		epoll_ctl(agent.epoll, EPOLL_CTL_DEL, watch->fd, NULL);
		retire(&watch->source);
	}
	release();
}

/* Callers hold the lock. */
static void arm_clock(uint64_t at_ns)
{
	const struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(at_ns / 1000000000),
			     .tv_nsec = (long)(at_ns % 1000000000)},
	};

	agent.armed_ns = at_ns;
	timerfd_settime(agent.clock, TFD_TIMER_ABSTIME, &when, NULL);
}

struct timer *agent_timer_new(void (*due)(void *arg), void *arg)
{
	struct timer *timer = calloc(1, sizeof(*timer));

	if (timer == NULL)
		return NULL;
	timer->due = due;
	timer->arg = arg;
	take();
	enter(&agent.timers, &timer->source);
	release();
	return timer;
}

void agent_timer_set(struct timer *timer, uint64_t at_ns)
{
	take();
	if (is_live(&timer->source)) {
		timer->at_ns = at_ns;
		if (at_ns != 0 && (agent.armed_ns == 0 || at_ns < agent.armed_ns))
			arm_clock(at_ns);
	}
	release();
}

void agent_timer_delete(struct timer *timer)
{
	if (timer == NULL)
		return;
	take();
	if (is_live(&timer->source)) {
		timer->at_ns = 0;
		retire(&timer->source);
	}
	release();
}

int agent_call(void (*run)(void *arg), void *arg)
{
	struct call *call = calloc(1, sizeof(*call));

	if (call == NULL)
		return -ENOMEM;
	call->run = run;
	call->arg = arg;
	take();
	*agent.last_call = call;
	agent.last_call = &call->next;
	ring(agent.wake);
	release();
	return 0;
}

void agent_stay_awake(void)
{
	looks_left = looks;
}

int agent_kick_fd(void)
{
	return agent.kick;
}

void agent_kick(void)
{
	ring(agent.kick);
}

bool agent_is_current(void)
{
	return on_agent;
}

static void kicked(void *arg, uint32_t events)
{
	(void)arg;
	(void)events;
	drain(agent.kick);
	process_raise();
}

static void woken(void *arg, uint32_t events)
{
	struct call *call;

	(void)arg;
	(void)events;
	drain(agent.wake);
	take();
	call = agent.calls;
	agent.calls = NULL;
	agent.last_call = &agent.calls;
	release();
	while (call != NULL) {
		struct call *next = call->next;

		call->run(call->arg);
		free(call);
		call = next;
	}
}

/* The first timer that is due, and when the earliest of the others is. Callers hold the lock. */
static struct timer *find_due(uint64_t now_ns, uint64_t *earliest_ns)
{
	*earliest_ns = 0;
	for (struct source *at = agent.timers; at != NULL; at = at->next) {
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
	drain(agent.clock);
	take();
	agent.armed_ns = 0;
	while ((timer = find_due(now_ns, &earliest_ns)) != NULL && agent.armed_ns == 0) {
		timer->at_ns = 0;
		begin(timer);
		timer->due(timer->arg);
		end();
	}
	if (timer != NULL)
		arm_clock(now_ns);
	else if (earliest_ns != 0 && (agent.armed_ns == 0 || earliest_ns < agent.armed_ns))
		arm_clock(earliest_ns);
	release();
}

/* Call with the lock held, while no batch of events is being handled and no thread waits for a
 * callback. */
static void free_dead(struct source **list)
{
	while (*list != NULL) {
		struct source *one = *list;

		if (one->dead) {
			*list = one->next;
			free(one);
		} else {
			list = &one->next;
		}
	}
}

/* Callers hold the lock. */
static void serve_one(const struct epoll_event *event)
{
	struct watch *watch = event->data.ptr;

	if (watch->source.dead)
		return;
	begin(watch);
	watch->ready(watch->arg, event->events);
	end();
}

/* The clock comes last: what has come while this thread could not run is not late. */
static void serve(const struct epoll_event *events, int count)
{
	const struct epoll_event *clock = NULL;

	take();
	for (int i = 0; i < count; i++) {
		const struct watch *watch = events[i].data.ptr;

		if (watch->fd == agent.clock && !watch->source.dead)
			clock = &events[i];
		else
			serve_one(&events[i]);
	}
	if (clock != NULL)
		serve_one(clock);
	if (agent.has_dead && agent.waiting == 0) {
		free_dead(&agent.watches);
		free_dead(&agent.timers);
		agent.has_dead = false;
	}
	release();
}

/*
 * Threads that spin on a CQ fill the cores, and wait for what this one brings: a short slice lets
 * it run as soon as it wakes up (EEVDF since Linux 6.12, kernel/sched/fair.c: PREEMPT_SHORT; others
 * take no notice). No right is needed for it.
 */
static void ask_short_slice(void)
{
	struct {
		uint32_t size;
		uint32_t policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns;
		uint64_t deadline_ns;
		uint64_t period_ns;
	} attr = {0}; /* linux/sched/types.h, which glibc's sched.h does not go with */

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 ||
	    attr.policy != SCHED_OTHER)
		return;
	attr.runtime_ns = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *run_agent(void *arg)
{
	struct epoll_event events[BATCH];

	(void)arg;
	on_agent = true;
	pthread_setname_np(pthread_self(), "rpma-soft");
	ask_short_slice();
	while (!agent.leaving) {
		int count = epoll_wait(agent.epoll, events, BATCH, looks_left > 0 ? 0 : -1);

		if (count < 0 && errno != EINTR)
			abort(); /* the epoll fd was closed under us */
		if (count > 0 && looks_left > 0)
			looks = LOOKS;
		else if (looks_left > 0 && --looks_left == 0)
			looks = looks / 2 + 1;
		serve(events, count);
	}
	return NULL;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_fds(void)
{
	agent.epoll = epoll_create1(EPOLL_CLOEXEC);
	agent.kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	agent.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	agent.clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (agent.epoll < 0 || agent.kick < 0 || agent.wake < 0 || agent.clock < 0 ||
	    agent_watch(agent.kick, EPOLLIN, kicked, NULL) == NULL ||
	    agent_watch(agent.wake, EPOLLIN, woken, NULL) == NULL ||
	    agent_watch(agent.clock, EPOLLIN, clock_expired, NULL) == NULL)
		return -errno;
	return 0;
}

static int start_thread(void)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&agent.thread, NULL, run_agent, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0)
		return -error;
	if (!RUNNING_ON_VALGRIND)
		pthread_detach(agent.thread); /* else leave() */
	return 0;
}

/* Last of all parts, for its thread works on what the others have begun. */
static int start(struct process *process)
{
	int result;

	(void)process;
	if (agent.started)
		return 0;
	result = open_fds();
	if (result == 0) {
		agent.started = true;
		result = start_thread();
	}
	if (result == 0)
		return 0;
	agent.started = false;
	for (struct source *at = agent.watches; at != NULL; at = at->next)
		at->dead = true;
	free_dead(&agent.watches);
	close_fd(&agent.epoll);
	close_fd(&agent.kick);
	close_fd(&agent.wake);
	close_fd(&agent.clock);
	return result;
}

/* A thread that still runs at exit has memory that memcheck takes for lost. */
static void leave(void)
{
	struct timespec until;

	if (!RUNNING_ON_VALGRIND || !agent.started || on_agent)
		return;
	agent.leaving = true;
	agent_kick();
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2; /* who calls exit() may hold what it waits for */
	pthread_timedjoin_np(agent.thread, NULL, &until);
}

static void forked(void)
{
	pthread_cond_init(&agent.returned, NULL);
	if (!agent.started)
		return;
	for (struct source *at = agent.watches; at != NULL; at = at->next) {
		if (!at->dead)
			close(((struct watch *)at)->fd);
	}
	close_fd(&agent.epoll);
	agent.kick = agent.wake = agent.clock = -1; /* were watched */
	agent.old_watches = agent.watches;
	agent.old_timers = agent.timers;
	agent.old_calls = agent.calls;
	agent.watches = NULL;
	agent.timers = NULL;
	agent.calls = NULL;
	agent.last_call = &agent.calls;
	agent.running = NULL;
	agent.waiting = 0;
	agent.armed_ns = 0;
	agent.has_dead = false;
	agent.started = false;
	agent.generation++;
}

/* Its lock comes after all others. */
const struct process_part agent_part = {
	.begin = start, .lock = &agent.lock, .forked = forked, .leave = leave};
