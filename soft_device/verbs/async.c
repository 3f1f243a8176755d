/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * async.c -- the asynchronous events of a context: queue, fd, acknowledgements.
 *
 * The fd is a semaphore eventfd with as many tokens as events are queued, both changed under the
 * objects lock: a program that polled it, or set O_NONBLOCK, sees what it sees of a NIC.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device.h"
#include "objects.h"
#include "soft_device/faults/call.h"

struct async_event {
	struct async_event *next;
	enum ibv_event_type type;
	void *element;
};

struct async_events {		    /* all under the objects lock */
	struct async_event *queued; /* oldest first */
	struct async_event **last;
	struct async_event *got; /* and not acknowledged */
	pthread_cond_t acked;
};

int async_open(struct context *context)
{
	struct async_events *events = calloc(1, sizeof(*events));
	int fd;

	if (events == NULL)
		return -ENOMEM;
	fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	if (fd < 0) {
		free(events);
		return -errno;
	}
	events->last = &events->queued;
	pthread_cond_init(&events->acked, NULL);
	context->events = events;
	context->verbs.context.async_fd = fd;
	return 0;
}

static void delete_all(struct async_event *event)
{
	while (event != NULL) {
		struct async_event *next = event->next;

		free(event);
		event = next;
	}
}

void async_close(struct context *context)
{
	struct async_events *events = context->events;

	if (events == NULL)
		return;
	delete_all(events->queued);
	delete_all(events->got);
	pthread_cond_destroy(&events->acked);
	close(context->verbs.context.async_fd);
	free(events);
	context->events = NULL;
}

/* One token for each queued event: neither can fail or block but by EINTR, which eventfds lack. */
static void token_add(const struct context *context)
{
	eventfd_write(context->verbs.context.async_fd, 1);
}

static void token_take(const struct context *context)
{
	eventfd_t one;

	eventfd_read(context->verbs.context.async_fd, &one);
}

void async_raise(struct context *context, enum ibv_event_type type, void *element)
{
	struct async_events *events = context->events;
	struct async_event *event = malloc(sizeof(*event));

	if (event == NULL) {
		process_warn("no memory for the event \"%s\"", ibv_event_type_str(type));
		return;
	}
	*event = (struct async_event){.type = type, .element = element};
	*events->last = event;
	events->last = &event->next;
	token_add(context);
}

static void drop_queued(struct context *context, const void *element)
{
	struct async_events *events = context->events;
	struct async_event **at = &events->queued;

	while (*at != NULL) {
		struct async_event *event = *at;

		if (event->element != element) {
			at = &event->next;
			continue;
		}
		*at = event->next;
		free(event);
		token_take(context);
	}
	events->last = at;
}

static struct async_event **find_got(struct async_events *events, const void *element)
{
	struct async_event **at = &events->got;

	while (*at != NULL && (*at)->element != element)
		at = &(*at)->next;
	return at;
}

void async_settle(struct context *context, void *element)
{
	pthread_mutex_t *objects = &process_objects;

	pthread_mutex_lock(objects);
	drop_queued(context, element);
	while (*find_got(context->events, element) != NULL)
		pthread_cond_wait(&context->events->acked, objects);
	pthread_mutex_unlock(objects);
}

/* Moves the oldest event to those got; NULL: none is queued. Objects lock held. */
static struct async_event *get(struct context *context)
{
	struct async_events *events = context->events;
	struct async_event *event = events->queued;

	if (event == NULL)
		return NULL;
	events->queued = event->next;
	if (events->queued == NULL)
		events->last = &events->queued;
	token_take(context);
	event->next = events->got;
	events->got = event;
	return event;
}

/* Sleeps until there may be an event; EAGAIN when the program wants no sleep. */
static int wait_readable(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return errno;
	if ((flags & O_NONBLOCK) != 0)
		return EAGAIN;
	return poll(&polled, 1, -1) < 0 ? errno : 0;
}

static int get_event(struct context *context, struct ibv_async_event *event)
{
	for (;;) {
		const struct async_event *oldest;
		int error;

		pthread_mutex_lock(&process_objects);
		oldest = get(context);
		if (oldest != NULL) {
			event->event_type = oldest->type;
			event->element.cq = oldest->element; /* of the union, whatever it is */
		}
		pthread_mutex_unlock(&process_objects);
		if (oldest != NULL)
			return 0;
		error = wait_readable(context->verbs.context.async_fd);
		if (error != 0)
			return error;
	}
}

SOFT_EXPORT int ibv_get_async_event(struct ibv_context *ibv, struct ibv_async_event *event)
{
	struct context *context = context_of(ibv);
	int error;

	ENTER_MINUS(context->generation);
	error = get_event(context, event);
	return error == 0 ? 0 : call_failed(error);
}

static struct context *context_of_event(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return context_of(event->element.cq->context);
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return context_of(event->element.srq->context);
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return context_of(event->element.qp->context);
	default: /* nothing else is ever raised */
		return NULL;
	}
}

SOFT_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct context *context = context_of_event(event);
	struct async_event **at;
	struct async_event *acked;

	if (context == NULL || process_is_foreign(context->generation))
		return;
	pthread_mutex_lock(&process_objects);
	at = find_got(context->events, event->element.cq);
	acked = *at;
	if (acked != NULL) {
		*at = acked->next;
		free(acked);
		pthread_cond_broadcast(&context->events->acked);
	}
	pthread_mutex_unlock(&process_objects);
}
