/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.c -- completion channels: the fd that becomes readable when an armed
 * CQ has something new.
 *
 * The fd is a semaphore eventfd. A push to an armed CQ counts an event in it
 * and then adds a token to the fd, so behind every token there is an event.
 * Reading takes a token, honouring O_NONBLOCK, and then the event of the CQ
 * that has waited longest. What a peer that died in between has left out, the owner
 * adds (channel_catch_up()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cq.h"
#include "cq_check.h"
#include "objects.h"
#include "soft_device/check/objects.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/event_queue.h"

/* Both under the objects lock. Those of this process are in the order of their slots. */
static struct channel *channels;
static uint32_t last_id;

/* Takes the first slot that is free: where the channel goes in the list. */
static struct channel **take_slot(struct channel *channel)
{
	struct channel **at = &channels;

	for (; *at != NULL; at = &(*at)->next) {
		if (process_is_foreign((*at)->generation))
			continue;
		if ((*at)->slot != channel->slot)
			break;
		channel->slot++;
	}
	return at;
}

static void join(struct channel *channel)
{
	struct channel **at;

	pthread_mutex_lock(&process_objects);
	at = take_slot(channel);
	channel->id = ++last_id;
	channel->next = *at;
	*at = channel;
	pthread_mutex_unlock(&process_objects);
	peer_channel_new(channel->slot, channel->id, channel->ibv.fd);
}

static void leave(struct channel *channel)
{
	peer_channel_delete(channel->slot, channel->id);
	pthread_mutex_lock(&process_objects);
	LIST_TAKE_OUT(channels, channel, next);
	pthread_mutex_unlock(&process_objects);
}

SOFT_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ibv)
{
	struct context *context = context_of(ibv);
	struct channel *channel;

	ENTER_NULL(context->generation);
	channel = calloc(1, sizeof(*channel));
	if (channel == NULL)
		return NULL;
	channel->generation = context->generation;
	channel->ibv.context = &context->verbs.context;
	channel->ibv.fd = event_fd_open();
	if (channel->ibv.fd < 0) {
		free(channel);
		return NULL;
	}
	join(channel);
	objects_made(OBJECT_CHANNEL, &channel->ibv, channel->id);
	atomic_fetch_add(&context->users, 1);
	return &channel->ibv;
}

SOFT_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *ibv)
{
	struct channel *channel = (struct channel *)ibv;
	int error;

	if (OBJECT_IS_GONE(OBJECT_CHANNEL, ibv))
		return call_error(EINVAL);
	ENTER(channel->generation);
	pthread_mutex_lock(&process_objects);
	error = ibv->refcnt > 0 ? EBUSY : 0;
	pthread_mutex_unlock(&process_objects);
	if (error != 0)
		return REFUSE_OF(error, "ibv_destroy_comp_channel", "channel %u: %d CQs use it",
				 channel->id, ibv->refcnt);
	leave(channel);
	close(ibv->fd);
	atomic_fetch_sub(&context_of(ibv->context)->users, 1);
	objects_gone(OBJECT_CHANNEL, ibv);
	objects_free(channel);
	return 0;
}

void channel_each(void (*visit)(struct channel *channel, void *arg), void *arg)
{
	for (struct channel *channel = channels; channel != NULL; channel = channel->next)
		if (!process_is_foreign(channel->generation))
			visit(channel, arg);
}

void channel_add(struct channel *channel, struct cq *cq)
{
	struct cq **last = &channel->cqs;

	while (*last != NULL)
		last = &(*last)->next_on_channel;
	cq->next_on_channel = NULL;
	*last = cq;
	channel->ibv.refcnt++;
}

static void unlink_cq(struct channel *channel, struct cq *cq)
{
	LIST_TAKE_OUT(channel->cqs, cq, next_on_channel);
	channel->ibv.refcnt--;
}

/* The tokens of events that will not be delivered any more go with the CQ. */
void channel_remove(struct channel *channel, struct cq *cq)
{
	uint32_t tokens = atomic_exchange(&cq->shared->events, 0);

	tokens -= atomic_exchange(&cq->shared->unrung, 0);
	for (uint32_t i = 0; i < tokens; i++)
		event_fd_take_back(channel->ibv.fd);
	unlink_cq(channel, cq);
}

static struct cq_progress progress_of(struct cq *cq)
{
	struct cq_progress now = {.arms = atomic_load(&cq->arms)};

	now.pending = atomic_load(&cq->shared->events);
	pthread_mutex_lock(&cq->ibv.mutex);
	now.got = cq->events_got;
	pthread_mutex_unlock(&cq->ibv.mutex);
	return now;
}

/*
 * A push takes the arm off, counts an event, and adds a token to the channel. What a peer that died
 * in between has left out is added here. A living one may be in between, too, or a reader that has
 * the token and not yet the event; so the same event has to be missing at two looks. A thread that
 * was as slow as that leaves a token too many: take_event().
 */
bool channel_catch_up(struct cq *cq)
{
	const struct cq_progress now = progress_of(cq);
	const uint32_t armed = atomic_load(&cq->shared->armed) != ARM_NONE;
	const int32_t uncounted = (int32_t)(now.arms - armed - now.pending - now.got);
	bool misses = uncounted > 0 || (now.pending > 0 && event_fd_is_empty(cq->channel->ibv.fd));

	if (misses && cq->misses_event && memcmp(&now, &cq->seen, sizeof(now)) == 0) {
		const uint32_t tokens = uncounted > 0 ? (uint32_t)uncounted : 1;

		if (uncounted > 0)
			atomic_fetch_add(&cq->shared->events, tokens);
		eventfd_write(cq->channel->ibv.fd, tokens);
		cq->channel->late += tokens;
		misses = false;
	}
	cq->misses_event = misses;
	cq->seen = now;
	return misses || now.pending > 0;
}

/* A late token: its reader must not wait for another, so it gets one event too many. */
static struct cq *count_late(struct channel *channel)
{
	struct cq *cq = channel->cqs;

	if (cq == NULL || channel->late == 0)
		return NULL;
	channel->late--;
	atomic_fetch_add(&cq->arms, 1);
	atomic_fetch_add(&cq->shared->events, 1);
	return cq;
}

/* Takes the next event, round-robin over the CQs. */
static struct cq *take_event(struct channel *channel)
{
	struct cq *cq = channel->cqs;

	while (cq != NULL && atomic_load(&cq->shared->events) == 0)
		cq = cq->next_on_channel;
	if (cq == NULL)
		cq = count_late(channel);
	if (cq == NULL)
		return NULL;
	atomic_fetch_sub(&cq->shared->events, 1);
	unlink_cq(channel, cq);
	channel_add(channel, cq);
	return cq;
}

static int get_event(struct channel *channel, struct ibv_cq **cq, void **cq_context)
{
	struct cq *found = NULL;

	while (found == NULL) {
		if (event_fd_wait(channel->ibv.fd) != 0)
			return -1;
		pthread_mutex_lock(&process_objects);
		found = take_event(channel);
		if (found != NULL) {
			pthread_mutex_lock(&found->ibv.mutex);
			found->events_got++;
			pthread_mutex_unlock(&found->ibv.mutex);
		}
		pthread_mutex_unlock(&process_objects);
	}
	*cq = &found->ibv;
	*cq_context = found->ibv.cq_context;
	return 0;
}

static void end_wait(void *channel)
{
	cq_check_wait_end(channel);
}

SOFT_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *ibv, struct ibv_cq **cq,
				 void **cq_context)
{
	struct channel *channel = (struct channel *)ibv;
	volatile int ret;

	ENTER_MINUS(channel->generation);
	if (!check_any)
		return get_event(channel, cq, cq_context);
	cq_check_wait(channel, stack_at(STACK_ENTRY()));
	pthread_cleanup_push(end_wait, channel); /* the wait is a cancellation point */
	ret = get_event(channel, cq, cq_context);
	pthread_cleanup_pop(1);
	return ret;
}

SOFT_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int nevents)
{
	pthread_mutex_lock(&cq->mutex);
	cq->comp_events_completed += nevents;
	if (check_any)
		cq_check_acknowledged(cq_of(cq));
	pthread_cond_broadcast(&cq->cond);
	pthread_mutex_unlock(&cq->mutex);
}
