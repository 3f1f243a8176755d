/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.c -- the one thread of the device: epoll, watches, calls; its timers are in timers.c.
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
#include <time.h>
#include <unistd.h>
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#include "agent_private.h"
#include "cancel.h"
#include "process.h"

#define BATCH	 64
#define SLICE_NS 100000 /* the shortest there is */
#define LOOKS	 64u	/* before it sleeps, where more is about to come: 20 us or so */

struct watch {
	struct source source; /* first */
	int fd;
	void (*ready)(void *arg, uint32_t events);
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
	struct call *calls; /* oldest first */
	struct call **last_call;
	bool has_dead;
	bool started;
	uint32_t generation; /* raised in the child of a fork() */
	int epoll;
	int kick;
	int wake;
	/* what a child inherited and must not touch; here for leak checkers */
	struct source *old_watches;
	struct call *old_calls;
} agent = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.returned = PTHREAD_COND_INITIALIZER,
	.last_call = &agent.calls,
	.epoll = -1,
	.kick = -1,
	.wake = -1,
};

static __thread bool on_agent;
static unsigned looks = LOOKS, looks_left; /* its thread's; fewer where they find nothing */

void agent_take(void)
{
	pthread_mutex_lock(&agent.lock);
}

void agent_release(void)
{
	pthread_mutex_unlock(&agent.lock);
}

/* A write to an eventfd fails only when its counter is full: then it rings already. */
static void ring(int fd)
{
	const int cancel = cancel_off();
	const uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
	cancel_restore(cancel);
}

void agent_drain(int fd)
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
	agent_take();
	returns = agent.returns;
	agent.waiting++;
	while (agent.running != NULL && agent.returns == returns)
		pthread_cond_wait(&agent.returned, &agent.lock);
	agent.waiting--;
	agent_release();
}

void agent_begin(void *what)
{
	agent.running = what;
	agent_release();
}

void agent_end(void)
{
	agent_take();
	agent.running = NULL;
	agent.returns++;
	if (agent.waiting > 0)
		pthread_cond_broadcast(&agent.returned);
}

void agent_enter(struct source **list, struct source *source)
{
	source->generation = agent.generation;
	source->next = *list;
	*list = source;
}

bool agent_is_live(const struct source *source)
{
	return !source->dead && source->generation == agent.generation;
}

void agent_retire(struct source *source)
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
	agent_take();
	if (epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
		agent_release();
		free(watch);
		return NULL;
	}
	agent_enter(&agent.watches, &watch->source);
	agent_release();
	return watch;
}

int agent_watch_change(struct watch *watch, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};
	int result = 0;

	agent_take();
	if (!agent_is_live(&watch->source))
		result = -EINVAL;
	else if (epoll_ctl(agent.epoll, EPOLL_CTL_MOD, watch->fd, &event) != 0)
		result = -errno;
	agent_release();
	return result;
}

void agent_unwatch(struct watch *watch)
{
	if (watch == NULL)
		return;
	agent_take();
	if (agent_is_live(&watch->source)) {
		epoll_ctl(agent.epoll, EPOLL_CTL_DEL, watch->fd, NULL);
		agent_retire(&watch->source);
	}
	agent_release();
}

int agent_call(void (*run)(void *arg), void *arg)
{
	struct call *call = calloc(1, sizeof(*call));

	if (call == NULL)
		return -ENOMEM;
	call->run = run;
	call->arg = arg;
	agent_take();
	*agent.last_call = call;
	agent.last_call = &call->next;
	ring(agent.wake);
	agent_release();
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
	agent_drain(agent.kick);
	process_raise();
}

static void woken(void *arg, uint32_t events)
{
	struct call *call;

	(void)arg;
	(void)events;
	agent_drain(agent.wake);
	agent_take();
	call = agent.calls;
	agent.calls = NULL;
	agent.last_call = &agent.calls;
	agent_release();
	while (call != NULL) {
		struct call *next = call->next;

		call->run(call->arg);
		free(call);
		call = next;
	}
}

/* Call with the lock held, while no batch of events is being handled and no thread waits for a
 * callback. */
void agent_free_dead(struct source **list)
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
	agent_begin(watch);
	watch->ready(watch->arg, event->events);
	agent_end();
}

/* The clock comes last: what has come while this thread could not run is not late. */
static void serve(const struct epoll_event *events, int count)
{
	const struct epoll_event *clock = NULL;

	agent_take();
	for (int i = 0; i < count; i++) {
		const struct watch *watch = events[i].data.ptr;

		if (watch->fd == timers_fd() && !watch->source.dead)
			clock = &events[i];
		else
			serve_one(&events[i]);
	}
	if (clock != NULL)
		serve_one(clock);
	if (agent.has_dead && agent.waiting == 0) {
		agent_free_dead(&agent.watches);
		timers_free_dead();
		agent.has_dead = false;
	}
	agent_release();
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
	if (agent.epoll < 0 || agent.kick < 0 || agent.wake < 0 ||
	    agent_watch(agent.kick, EPOLLIN, kicked, NULL) == NULL ||
	    agent_watch(agent.wake, EPOLLIN, woken, NULL) == NULL)
		return -errno;
	return timers_open();
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
	agent_free_dead(&agent.watches);
	close_fd(&agent.epoll);
	close_fd(&agent.kick);
	close_fd(&agent.wake);
	timers_close();
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
	agent.kick = agent.wake = -1; /* were watched */
	agent.old_watches = agent.watches;
	timers_forked();
	agent.old_calls = agent.calls;
	agent.watches = NULL;
	agent.calls = NULL;
	agent.last_call = &agent.calls;
	agent.running = NULL;
	agent.waiting = 0;
	agent.has_dead = false;
	agent.started = false;
	agent.generation++;
}

/* Its lock comes after all others. */
const struct process_part agent_part = {
	.begin = start, .lock = &agent.lock, .forked = forked, .leave = leave};
