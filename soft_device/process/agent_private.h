/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_private.h -- what agent.c and timers.c know of each other: the lock, and what watches and
 * timers have in common.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Has a callback; in a list under the lock. */
struct source {
	struct source *next;
	bool dead; /* freed when no batch of events can name it */
	uint32_t generation;
};

/* agent.c: the lock; and what is called with it held. */
void agent_take(void);
void agent_release(void);
void agent_enter(struct source **list, struct source *source);
bool agent_is_live(const struct source *source);
void agent_retire(struct source *source); /* the caller must not hold what its callback takes */
void agent_free_dead(struct source **list);

/* Before a callback, and after it: the first releases the lock, the other takes it. */
void agent_begin(void *source);
void agent_end(void);

/* Reads the counter of an eventfd or timerfd; needs no lock. */
void agent_drain(int fd);

/* timers.c: opens and watches the clock, 0 or -errno; its fd, -1 before; closes it unwatched. */
int timers_open(void);
int timers_fd(void);
void timers_close(void);
/* Callers hold the lock. The other is for a child, where the fd is closed already. */
void timers_free_dead(void);
void timers_forked(void);
