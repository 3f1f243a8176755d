/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_queue.h -- events behind a file descriptor that programs poll and may make nonblocking.
 *
 * The descriptor is a semaphore eventfd with one token for each event. A reader takes a token
 * first and then, under the lock of the queue's user, an event. When an event is withdrawn whose
 * token a reader has taken already, `taken` makes that reader try again.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct event {
	struct event *next;
	void *owner; /* what it is about */
};

/* All but the fd under the user's lock. */
struct event_queue {
	int fd;
	struct event *first; /* the oldest */
	struct event **last;
	uint32_t taken; /* tokens that readers took for events withdrawn since */
};

/* An empty one; its fd, which its user closes, or -1 with errno. */
int event_queue_open(struct event_queue *queue);

/* Lock held. */
void event_queue_push(struct event_queue *queue, struct event *event);

/* The events of this owner, oldest first. Lock held. */
struct event *event_queue_withdraw(struct event_queue *queue, const void *owner);

/* Waits for the oldest event and takes it: with the lock held, or NULL with errno and without. */
struct event *event_queue_take(struct event_queue *queue, pthread_mutex_t *lock);

/* The descriptor alone, for events that are counted elsewhere. */
int event_fd_open(void);	 /* -1 with errno */
int event_fd_wait(int fd);	 /* takes a token: 0 or an errno */
bool event_fd_take_back(int fd); /* takes one without waiting, if there is one */
bool event_fd_is_empty(int fd);
