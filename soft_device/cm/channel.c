/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.c -- event channels: queues of events behind a file descriptor (event_queue.h).
 *
 * A program may destroy a channel below a thread that waits for its next event: rping does.
 * librdmacm leaves that thread asleep in the kernel, so here a channel lasts until the last
 * of its users, who are its owner and the readers, has left.
 *
 * An event is made ready by the thread that gets it, as librdmacm does: only then are
 * public fields of its id written and its QP driven.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cm.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"

static struct cm_channel *channel_of(struct rdma_event_channel *channel)
{
	return (struct cm_channel *)channel;
}

struct cm_channel *cm_channel_new(void)
{
	struct process *process = process_get();
	struct cm_channel *channel;
	int error;

	if (process == NULL)
		return NULL;
	pthread_mutex_lock(&cm_lock);
	error = cm_start();
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		return call_failed_null(-error);
	channel = calloc(1, sizeof(*channel));
	if (channel == NULL)
		return NULL;
	channel->generation = process->generation;
	channel->users = 1;
	channel->pub.fd = event_queue_open(&channel->queue);
	if (channel->pub.fd < 0) {
		error = errno;
		cm_warn_files(error);
		free(channel);
		return call_failed_null(error);
	}
	return channel;
}

static void enter(struct cm_channel *channel)
{
	pthread_mutex_lock(&cm_lock);
	channel->users++;
	pthread_mutex_unlock(&cm_lock);
}

/* A child of fork() has no other thread. */
static void leave(void *arg)
{
	struct cm_channel *channel = arg;
	bool last = true;

	if (!process_is_foreign(channel->generation)) {
		pthread_mutex_lock(&cm_lock);
		last = --channel->users == 0;
		pthread_mutex_unlock(&cm_lock);
	}
	if (last) {
		close(channel->pub.fd);
		objects_free(channel);
	}
}

/* Ids that are still on it get no more events. */
void cm_channel_delete(struct cm_channel *channel)
{
	struct cm_id *id;

	if (!process_is_foreign(channel->generation)) {
		pthread_mutex_lock(&cm_lock);
		LIST_FOREACH(id, &cm_ids, entry) {
			if (id->channel == channel)
				cm_events_move(id, NULL);
		}
		pthread_mutex_unlock(&cm_lock);
	}
	leave(channel);
}

struct cm_event *cm_event_new(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *event = calloc(1, sizeof(*event));

	if (event == NULL)
		return NULL;
	event->pub.id = &id->pub;
	event->pub.event = type;
	event->pub.status = status;
	event->queued.owner = id;
	event->owner = id;
	event->generation = id->generation;
	return event;
}

/* Depths are told from the receiver's point of view; private data come with zeros to their full
 * size. */
void cm_event_carry(struct cm_event *event, const struct cm_message *message)
{
	struct rdma_conn_param *param = &event->pub.param.conn;

	memcpy(event->private_data, message->private_data, sizeof(event->private_data));
	if (message->kind == CM_SIDR_REQ || message->kind == CM_SIDR_REP) {
		cm_sidr_carry(event, message);
		return;
	}
	param->private_data = event->private_data;
	param->private_data_len = (uint8_t)cm_wire_private_max(message->kind);
	if (message->kind == CM_REJ)
		return;
	param->responder_resources = message->initiator_depth;
	param->initiator_depth = message->responder_resources;
	param->flow_control = message->flow_control;
	param->retry_count = message->retry_count;
	param->rnr_retry_count = message->rnr_retry_count;
	param->srq = message->srq;
	param->qp_num = message->qpn;
}

void cm_event_push(struct cm_event *event)
{
	if (event->owner->channel == NULL)
		free(event);
	else
		event_queue_push(&event->owner->channel->queue, &event->queued);
}

int cm_event_raise(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	struct cm_event *event = cm_event_new(id, type, status);

	if (event == NULL)
		return -ENOMEM;
	cm_event_push(event);
	return 0;
}

struct event *cm_events_withdraw(struct cm_id *id)
{
	return id->channel == NULL ? NULL : event_queue_withdraw(&id->channel->queue, id);
}

void cm_events_move(struct cm_id *id, struct cm_channel *channel)
{
	struct event *events = cm_events_withdraw(id), *next;

	id->channel = channel;
	for (; events != NULL; events = next) {
		next = events->next;
		cm_event_push(cm_event_of(events));
	}
}

/* The next event, counted as unacknowledged from here on. */
static struct cm_event *dequeue(struct cm_channel *channel)
{
	struct event *queued = event_queue_take(&channel->queue, &cm_lock);
	struct cm_event *event;

	if (queued == NULL)
		return NULL;
	event = cm_event_of(queued);
	event->owner->unacked++;
	if (event->pub.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		event->owner->requests--;
		cm_listen_admit(event->owner);
	}
	pthread_mutex_unlock(&cm_lock);
	return event;
}

/* No program has the new id yet: where it cannot be made ready, its peer is rejected. */
static int ready_request(struct cm_event *event)
{
	struct cm_id *id = cm_id_of(event->pub.id);
	int error = cm_id_show_device(id);

	if (error == 0 && event->owner->core.sync)
		error = cm_id_migrate(id, NULL);
	if (error != 0)
		cm_id_delete(id);
	return error;
}

static void ready_response(struct cm_event *event)
{
	struct cm_id *id = event->owner;

	if (id->pub.qp == NULL)
		return;
	event->pub.status = cm_respond(id);
	event->pub.event =
		event->pub.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
}

static bool had_connect_error(struct cm_id *id)
{
	bool had;

	pthread_mutex_lock(&cm_lock);
	had = id->connect_error;
	pthread_mutex_unlock(&cm_lock);
	return had;
}

/* -errno: the program does not get to see it. */
static int ready(struct cm_event *event)
{
	struct cm_id *id = event->owner;

	switch (event->pub.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		event->pub.status = cm_id_show_device(id);
		if (event->pub.status != 0)
			event->pub.event = RDMA_CM_EVENT_ADDR_ERROR;
		return 0;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return ready_request(event);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ready_response(event);
		return 0;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
		event->pub.status = cm_joined(id, event);
		if (event->pub.status != 0)
			event->pub.event = RDMA_CM_EVENT_MULTICAST_ERROR;
		return 0;
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
		if (had_connect_error(id))
			return -ECONNABORTED;
		if (event->lost || event->pub.event == RDMA_CM_EVENT_REJECTED)
			cm_qp_fail(id);
		return 0;
	default:
		return 0;
	}
}

/* The next event that the program gets to see, NULL with errno. */
static struct cm_event *dequeue_ready(struct cm_channel *channel)
{
	struct cm_event *event;

	while ((event = dequeue(channel)) != NULL && ready(event) != 0)
		cm_event_ack(event);
	return event;
}

int cm_event_get(struct cm_channel *channel, struct cm_event **event)
{
	enter(channel);
	pthread_cleanup_push(leave, channel); /* the wait is a cancellation point */
	*event = dequeue_ready(channel);
	pthread_cleanup_pop(1);
	return *event == NULL ? -1 : 0;
}

void cm_event_ack(struct cm_event *event)
{
	if (!process_is_foreign(event->generation)) {
		pthread_mutex_lock(&cm_lock);
		if (--event->owner->unacked == 0)
			pthread_cond_broadcast(&cm_acked);
		pthread_mutex_unlock(&cm_lock);
	}
	objects_free(event);
}

SOFT_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct cm_channel *channel;
	int error = FAULT_CALL();

	if (error != 0)
		return call_failed_null(error);
	channel = cm_channel_new();
	if (channel == NULL)
		return NULL;
	objects_made(OBJECT_CM_CHANNEL, &channel->pub, 0);
	return &channel->pub;
}

SOFT_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	if (OBJECT_IS_GONE(OBJECT_CM_CHANNEL, channel))
		return;
	objects_gone(OBJECT_CM_CHANNEL, channel);
	cm_channel_delete(channel_of(channel));
}

SOFT_EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct cm_event *next;
	int error = FAULT_CALL();

	if (error == 0 && (channel == NULL || event == NULL))
		error = REFUSE(EINVAL, __func__, "%s is NULL",
			       channel == NULL ? "channel" : "event");
	if (error == 0 && process_is_foreign(channel_of(channel)->generation))
		error = REFUSE(EIO, __func__, "channel: " CALL_OF_PARENT);
	if (error != 0)
		return call_failed(error);
	if (cm_event_get(channel_of(channel), &next) != 0)
		return -1;
	*event = &next->pub;
	objects_made(OBJECT_CM_EVENT, *event, (uint32_t)(*event)->event);
	return 0;
}

SOFT_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	int error = FAULT_CALL();

	if (event == NULL)
		return call_failed(REFUSE(EINVAL, __func__, "event is NULL"));
	if (OBJECT_IS_GONE(OBJECT_CM_EVENT, event))
		return call_failed(EINVAL);
	objects_gone(OBJECT_CM_EVENT, event);
	/* told to fail it does its work all the same: without it its id could never be destroyed */
	cm_event_ack((struct cm_event *)event);
	return error != 0 ? call_failed(error) : 0;
}

SOFT_EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
	static const char *const names[] = {
		"RDMA_CM_EVENT_ADDR_RESOLVED",	 "RDMA_CM_EVENT_ADDR_ERROR",
		"RDMA_CM_EVENT_ROUTE_RESOLVED",	 "RDMA_CM_EVENT_ROUTE_ERROR",
		"RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
		"RDMA_CM_EVENT_CONNECT_ERROR",	 "RDMA_CM_EVENT_UNREACHABLE",
		"RDMA_CM_EVENT_REJECTED",	 "RDMA_CM_EVENT_ESTABLISHED",
		"RDMA_CM_EVENT_DISCONNECTED",	 "RDMA_CM_EVENT_DEVICE_REMOVAL",
		"RDMA_CM_EVENT_MULTICAST_JOIN",	 "RDMA_CM_EVENT_MULTICAST_ERROR",
		"RDMA_CM_EVENT_ADDR_CHANGE",	 "RDMA_CM_EVENT_TIMEWAIT_EXIT",
	};

	if ((unsigned int)event >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN EVENT";
	return names[event];
}
