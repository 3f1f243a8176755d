/* SPDX-License-Identifier: BSD-3-Clause */
/* async.c -- the asynchronous events of a context: queue and acknowledgements. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"
#include "objects.h"
#include "soft_device/check/check.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/event_queue.h"

struct async_event {
	struct event
		queued; /* first; its owner is the element, and it is in `got` once it was got */
	enum ibv_event_type type;
};

struct async_events { /* all under the objects lock */
	struct event_queue queue;
	struct event *got; /* and not acknowledged */
	pthread_cond_t acked;
};

int async_open(struct context *context)
{
	struct async_events *events = calloc(1, sizeof(*events));

	if (events == NULL)
		return -ENOMEM;
	context->verbs.context.async_fd = event_queue_open(&events->queue);
	if (events->queue.fd < 0) {
		free(events);
		return -errno;
	}
	pthread_cond_init(&events->acked, NULL);
	context->events = events;
	return 0;
}

static void delete_all(struct event *event)
{
	while (event != NULL) {
		struct event *next = event->next;

		free(event);
		event = next;
	}
}

void async_close(struct context *context)
{
	struct async_events *events = context->events;

	if (events == NULL)
		return;
	delete_all(events->queue.first);
	delete_all(events->got);
	pthread_cond_destroy(&events->acked);
	close(events->queue.fd);
	free(events);
	context->events = NULL;
}

void async_raise(struct context *context, enum ibv_event_type type, void *element)
{
	struct async_event *event = malloc(sizeof(*event));

	if (event == NULL) {
		process_warn("no memory for the event \"%s\"", ibv_event_type_str(type));
		return;
	}
	*event = (struct async_event){.queued.owner = element, .type = type};
	event_queue_push(&context->events->queue, &event->queued);
}

static struct event **find_got(struct async_events *events, const void *element)
{
	struct event **at = &events->got;

	while (*at != NULL && (*at)->owner != element)
		at = &(*at)->next;
	return at;
}

void async_settle(struct context *context, void *element)
{
	struct check_wait wait = {"destroying", element, 0};
	pthread_mutex_t *objects = &process_objects;

	pthread_mutex_lock(objects);
	delete_all(event_queue_withdraw(&context->events->queue, element));
	while (*find_got(context->events, element) != NULL)
		check_wait(&wait, &context->events->acked, objects, 1);
	pthread_mutex_unlock(objects);
	check_wait_end(&wait);
}

SOFT_EXPORT int ibv_get_async_event(struct ibv_context *ibv, struct ibv_async_event *event)
{
	struct async_events *events = context_of(ibv)->events;
	struct event *oldest;

	ENTER_MINUS(context_of(ibv)->generation);
	oldest = event_queue_take(&events->queue, &process_objects);
	if (oldest == NULL)
		return -1;
	event->event_type = ((struct async_event *)oldest)->type;
	event->element.cq = oldest->owner; /* stands for any member of the union */
	oldest->next = events->got;
	events->got = oldest;
	pthread_mutex_unlock(&process_objects);
	return 0;
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

/* It was not got, or is acknowledged already. */
static void check_acknowledged(const struct ibv_async_event *event)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;

	check_find(&finding, CHECK_EVENT_ACKNOWLEDGED_TWICE, stack,
		   "ibv_ack_async_event of \"%s\", which waits for no acknowledgement",
		   ibv_event_type_str(event->event_type));
	check_place(&finding, "acknowledged at", stack);
	check_report(&finding);
}

SOFT_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	struct context *context = context_of_event(event);
	struct event **at, *acked;

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
	if (acked == NULL && check_any)
		check_acknowledged(event);
}
