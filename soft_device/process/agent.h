/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.h -- the one thread of the device: it sleeps in epoll until a socket, a
 * timer or another process's kick has something for it.
 *
 * Callbacks run on the agent's thread, one at a time, with no lock held; they may add and
 * remove watches and timers. It has all signals blocked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct watch;
struct timer;

extern const struct process_part agent_part;

/* True on the agent's own thread. */
bool agent_is_current(void);

/*
 * Calls `ready(arg, events)` when epoll reports any; `events` are EPOLLIN, EPOLLOUT… (level
 * triggered). The fd stays the caller's, who removes the watch before closing it. A removed
 * watch's callback is never called again, not even when it was due: from another thread
 * than the agent's agent_unwatch() waits until a running callback has returned, so callers hold
 * no lock that the callback takes. NULL with errno when there is no memory or no room.
 * All watched fds are closed in a child of fork().
 */
struct watch *agent_watch(int fd, uint32_t events, void (*ready)(void *arg, uint32_t events),
			  void *arg);
int agent_watch_change(struct watch *watch, uint32_t events);
void agent_unwatch(struct watch *watch);

/* One-shot; may be set again at any time, from any thread. Deleting waits like agent_unwatch(). */
struct timer *agent_timer_new(void (*due)(void *arg), void *arg);
void agent_timer_set(struct timer *timer, uint64_t at_ns); /* process_now_ns() time; 0: off */
void agent_timer_delete(struct timer *timer);

/* Calls `run(arg)` once, soon, on the agent's thread; -ENOMEM. */
int agent_call(void (*run)(void *arg), void *arg);

/* For callbacks: more is about to come, so the agent looks for some microseconds before it sleeps.
 */
void agent_stay_awake(void);

/* Waits until the callback that runs now, if any, has returned; callers hold no lock it takes. */
void agent_settle(void);

/*
 * The eventfd by which peers (and this process's data path) kick the agent: it then calls
 * process_raise(), which turns the raise bits of the segment into async events, flushes
 * and channel notifications.
 */
int agent_kick_fd(void);
void agent_kick(void); /* wakes this process's agent */
