/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * id.c -- CM ids: made, moved between event channels, destroyed.
 *
 * An id without a channel of the program's is synchronous: it gets a channel of its own,
 * and each call on it waits there for what becomes of it. All ids of the process are in one list,
 * for the deadlines, and so that the child of a fork() lets go of its parent's.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cm.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/admission.h"

pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cm_acked = PTHREAD_COND_INITIALIZER;
struct cm_ids cm_ids = LIST_HEAD_INITIALIZER(cm_ids);

int cm_id_usable(const struct rdma_cm_id *id)
{
	if (id == NULL)
		return EINVAL;
	return process_is_foreign(((const struct cm_id *)id)->generation) ? EIO : 0;
}

struct cm_id *cm_id_new(struct cm_channel *channel, void *context)
{
	struct cm_id *id = calloc(1, sizeof(*id));

	if (id == NULL)
		return NULL;
	id->pub.channel = &channel->pub;
	id->pub.context = context;
	id->pub.ps = RDMA_PS_TCP;
	id->pub.qp_type = IBV_QPT_RC;
	id->generation = channel->generation;
	id->channel = channel;
	id->fd = -1;
	if (getrandom(&id->psn, sizeof(id->psn), GRND_NONBLOCK) != sizeof(id->psn))
		id->psn = (uint32_t)process_now_ns();
	id->psn &= 0xffffff;
	LIST_INSERT_HEAD(&cm_ids, id, entry);
	objects_made(OBJECT_CM_ID, &id->pub, 0);
	return id;
}

void cm_warn_files(int error)
{
	static _Atomic bool warned;

	if (!atomic_load(&warned) && process_warn_files(error, "connecting"))
		atomic_store(&warned, true);
}

static void delete_withdrawn(struct event *queued)
{
	while (queued != NULL) {
		struct cm_event *event = cm_event_of(queued);

		queued = queued->next;
		if (event->pub.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			cm_id_delete(cm_id_of(event->pub.id)); /* the program has not seen it */
		free(event);
	}
}

/* Waits until the program has acknowledged what it got of this id; drops what it did not get. */
static void settle_events(struct cm_id *id)
{
	struct check_wait wait = {"rdma_destroy_id", &id->pub, 0};
	struct event *withdrawn;

	pthread_mutex_lock(&cm_lock);
	withdrawn = cm_events_withdraw(id);
	LIST_REMOVE(id, entry);
	pthread_mutex_unlock(&cm_lock);
	delete_withdrawn(withdrawn);
	if (id->pub.event != NULL)
		cm_event_ack((struct cm_event *)id->pub.event);
	pthread_mutex_lock(&cm_lock);
	while (id->unacked > 0)
		check_wait(&wait, &cm_acked, &cm_lock, id->unacked);
	pthread_mutex_unlock(&cm_lock);
	check_wait_end(&wait);
}

/* The peer is told what the end of a connection does not say by itself. Lock held. */
static void say_goodbye(struct cm_id *id)
{
	if (id->stream == NULL)
		return;
	if (id->state == CM_ESTABLISHED)
		cm_stream_say(id->stream, CM_DREQ);
	else if (id->state == CM_DREQ_RECEIVED)
		cm_stream_say(id->stream, CM_DREP);
}

void cm_id_delete(struct cm_id *id)
{
	struct cm_stream *stream;
	struct watch *watch;

	if (id == NULL)
		return;
	pthread_mutex_lock(&cm_lock);
	say_goodbye(id);
	id->state = CM_ENDED;
	id->deadline_ns = 0;
	stream = cm_stream_detach(id);
	watch = id->watch;
	id->watch = NULL;
	pthread_mutex_unlock(&cm_lock);
	cm_stream_close(stream);
	agent_unwatch(watch);
	admission_close(id->admission);
	cm_pending_close(id);
	if (id->fd >= 0)
		close(id->fd);
	settle_events(id);
	cm_leave_all(id);
	if (id->core.sync)
		cm_channel_delete(id->channel);
	free(id->ep_qp);
	objects_gone(OBJECT_CM_ID, &id->pub);
	objects_free(id);
}

int cm_id_migrate(struct cm_id *id, struct cm_channel *channel)
{
	const bool sync = channel == NULL;
	struct cm_channel *own = id->core.sync ? id->channel : NULL;

	if (sync && id->core.sync)
		return CM_REFUSE(-EINVAL, "rdma_migrate_id", id,
				 "channel is NULL, and it has none of the program's");
	if (sync)
		channel = cm_channel_new();
	if (channel == NULL)
		return -errno;
	pthread_mutex_lock(&cm_lock);
	cm_events_move(id, channel);
	id->core.sync = sync;
	pthread_mutex_unlock(&cm_lock);
	id->pub.channel = &channel->pub;
	if (own == NULL)
		return 0;
	if (id->pub.event != NULL) {
		cm_event_ack((struct cm_event *)id->pub.event);
		id->pub.event = NULL;
	}
	cm_channel_delete(own);
	return 0;
}

int cm_id_complete(struct cm_id *id)
{
	struct cm_event *event;

	if (!id->core.sync)
		return 0;
	if (id->pub.event != NULL) {
		cm_event_ack((struct cm_event *)id->pub.event);
		id->pub.event = NULL;
	}
	if (cm_event_get(id->channel, &event) != 0)
		return -1;
	id->pub.event = &event->pub;
	if (event->pub.event == RDMA_CM_EVENT_REJECTED)
		return call_failed(ECONNREFUSED);
	return event->pub.status == 0 ? 0 : call_failed(abs(event->pub.status));
}

int cm_id_show_device(struct cm_id *id)
{
	struct rdma_addr *addr = &id->pub.route.addr;
	struct ibv_context *context = device_cm_context(id->device);
	struct ibv_pd *pd = context == NULL ? NULL : device_cm_pd(id->device);

	if (pd == NULL)
		return -errno;
	cm_show_local(id);
	if (id->remote.ss_family != AF_UNSPEC)
		addr->dst_storage = id->remote;
	addr->addr.ibaddr.sgid = id->device->gid;
	if (id->remote.ss_family != AF_UNSPEC)
		gid_from_sockaddr(&addr->addr.ibaddr.dgid, (struct sockaddr *)&id->remote);
	addr->addr.ibaddr.pkey = 0xffff;
	id->pub.verbs = context;
	id->pub.pd = pd;
	id->pub.port_num = 1;
	return 0;
}

/* The errors are those of socket(2). */
static int check_port_space(enum rdma_port_space ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
	case RDMA_PS_UDP:
		return 0;
	case RDMA_PS_IPOIB:
	case RDMA_PS_IB:
		return REFUSE(EOPNOTSUPP, "rdma_create_id",
			      "port space %#x; supported are TCP (%#x) and UDP (%#x)",
			      (unsigned int)ps, (unsigned int)RDMA_PS_TCP,
			      (unsigned int)RDMA_PS_UDP);
	default:
		return REFUSE(EINVAL, "rdma_create_id", "port space %#x", (unsigned int)ps);
	}
}

SOFT_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
			       void *context, enum rdma_port_space ps)
{
	struct cm_channel *of = (struct cm_channel *)channel;
	struct cm_id *new_id;
	int error = FAULT_CALL();

	if (error == 0)
		error = id == NULL ? REFUSE(EINVAL, __func__, "id is NULL") : check_port_space(ps);
	if (error == 0 && of != NULL && process_is_foreign(of->generation))
		error = REFUSE(EIO, __func__, "channel: " CALL_OF_PARENT);
	if (error != 0)
		return call_failed(error);
	if (of == NULL)
		of = cm_channel_new();
	if (of == NULL)
		return -1;
	pthread_mutex_lock(&cm_lock);
	new_id = cm_id_new(of, context);
	if (new_id != NULL) {
		new_id->core.sync = channel == NULL;
		new_id->pub.ps = ps;
		new_id->pub.qp_type = ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	}
	pthread_mutex_unlock(&cm_lock);
	if (new_id == NULL) {
		if (channel == NULL)
			cm_channel_delete(of);
		return call_failed(ENOMEM);
	}
	*id = &new_id->pub;
	return 0;
}

SOFT_EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
	if (OBJECT_IS_GONE(OBJECT_CM_ID, id))
		return call_failed(EINVAL);
	CM_ENTER(id);
	cm_id_delete(cm_id_of(id));
	return 0;
}

static void wait_acked(struct cm_id *id)
{
	pthread_mutex_lock(&cm_lock);
	while (id->unacked > 0)
		pthread_cond_wait(&cm_acked, &cm_lock);
	pthread_mutex_unlock(&cm_lock);
}

SOFT_EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	int error;

	CM_ENTER(id);
	error = -cm_id_migrate(cm_id_of(id), (struct cm_channel *)channel);
	if (error != 0)
		return call_failed(error);
	wait_acked(cm_id_of(id));
	return 0;
}

SOFT_EXPORT struct ibv_context **rdma_get_devices(int *num_devices)
{
	const unsigned count = device_count();
	struct ibv_context **list;
	int error = FAULT_CALL();

	if (error != 0)
		return call_failed_null(error);
	list = calloc(count + 1, sizeof(struct ibv_context *));
	if (list == NULL)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		list[i] = device_cm_context(device_at(i));
		if (list[i] == NULL) {
			free(list);
			return NULL;
		}
	}
	if (num_devices != NULL)
		*num_devices = (int)count;
	return list;
}

SOFT_EXPORT void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}

/* The agent has closed what it watched; what is bound only would keep a port of the parent's. */
static void forked(void)
{
	struct cm_id *id;

	LIST_FOREACH(id, &cm_ids, entry) {
		if (id->fd >= 0 && id->watch == NULL)
			close(id->fd);
	}
	LIST_INIT(&cm_ids);
	cm_streams_forget();
	pthread_cond_init(&cm_acked, NULL);
}

const struct process_part cm_part = {.lock = &cm_lock, .forked = forked};
