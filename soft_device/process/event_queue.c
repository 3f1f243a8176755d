/* SPDX-License-Identifier: BSD-3-Clause */
/* event_queue.c -- see event_queue.h. */
#include "event_queue.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

int event_fd_open(void)
{
	return eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
}

int event_fd_wait(int fd)
{
	eventfd_t token;

	return eventfd_read(fd, &token) == 0 ? 0 : errno;
}

bool event_fd_is_empty(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return poll(&one, 1, 0) == 0;
}

bool event_fd_take_back(int fd)
{
	eventfd_t token;
	struct iovec into = {.iov_base = &token, .iov_len = sizeof(token)};

	return preadv2(fd, &into, 1, -1, RWF_NOWAIT) == sizeof(token);
}

int event_queue_open(struct event_queue *queue)
{
	*queue = (struct event_queue){.fd = event_fd_open(), .last = &queue->first};
	return queue->fd;
}

void event_queue_push(struct event_queue *queue, struct event *event)
{
	event->next = NULL;
	*queue->last = event;
	queue->last = &event->next;
	eventfd_write(queue->fd, 1); /* fails at 2^64 - 2 events only */
}

struct event *event_queue_withdraw(struct event_queue *queue, const void *owner)
{
	struct event *withdrawn = NULL, **end = &withdrawn, **at = &queue->first;

	while (*at != NULL) {
		struct event *event = *at;

		if (event->owner != owner) {
			at = &event->next;
			continue;
		}
		*at = event->next;
		*end = event;
		end = &event->next;
		if (!event_fd_take_back(queue->fd))
			queue->taken++;
	}
	*end = NULL;
	queue->last = at;
	return withdrawn;
}

struct event *event_queue_take(struct event_queue *queue, pthread_mutex_t *lock)
{
	struct event *event = NULL;

	while (event == NULL) {
		if (event_fd_wait(queue->fd) != 0)
			return NULL;
		pthread_mutex_lock(lock);
		event = queue->first;
		if (queue->taken > 0 || event == NULL) {
			queue->taken -= queue->taken > 0;
			event = NULL;
			pthread_mutex_unlock(lock);
		}
	}
	queue->first = event->next;
	if (queue->first == NULL)
		queue->last = &queue->first;
	return event;
}
