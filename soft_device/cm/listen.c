/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listen.c -- listening ids: from a TCP connection of any process to a new id.
 *
 * A connection is pending until its whole request has come, for which it has as long as a client
 * waits for its answer, since the client's host may stand still. Where there are too many, or no
 * descriptor is left for the next one, the oldest has to go. A request that finds the backlog full
 * is held, as the repeats of an IB REQ would be, until the program gets an event or the peer gives
 * up.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/admission.h"

#define PAUSE_NS	UINT64_C(100000000)
#define PENDING_MAX	1024 /* and as many whose request is held */
#define PENDING_PART	4    /* at most a fourth of the descriptors that the process may have */
#define BACKLOG_MAX	1024 /* default of net.rdma_ucm.max_backlog */
#define ACCEPTS_AT_ONCE 64

static bool out_of_room(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* Level-triggered, a listener that cannot accept would keep the agent busy. */
static void pause_listening(struct cm_id *listener)
{
	agent_watch_change(listener->watch, 0);
	listener->deadline_ns = process_now_ns() + PAUSE_NS;
	cm_deadline(listener->deadline_ns);
}

void cm_listen_resume(struct cm_id *listener)
{
	agent_watch_change(listener->watch, EPOLLIN);
}

static unsigned pending_max(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur / PENDING_PART > PENDING_MAX)
		return PENDING_MAX;
	return (unsigned)(files.rlim_cur / PENDING_PART);
}

static void welcome(struct cm_id *listener, int fd)
{
	const int yes = 1;
	unsigned count;
	struct cm_stream *oldest = cm_pending_oldest(NULL, false, &count);
	struct cm_stream *stream = cm_stream_new(fd, NULL, listener);

	if (stream == NULL) {
		close(fd);
		return;
	}
	if (count >= pending_max())
		cm_stream_end(oldest);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	stream->deadline_ns = process_now_ns() + CM_ANSWER_NS;
	cm_deadline(stream->deadline_ns);
	if (cm_handshake_accepted(stream) != 0 || cm_stream_watch(stream, EPOLLIN) != 0)
		cm_stream_delete(stream);
}

/* False: no more connections for now. */
static bool accept_one(struct cm_id *listener)
{
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int error = errno;
	unsigned count;

	if (fd >= 0) {
		welcome(listener, fd);
		return true;
	}
	cm_warn_files(error);
	if (out_of_room(error)) {
		cm_stream_end(cm_pending_oldest(NULL, false, &count));
		pause_listening(listener);
	}
	return false;
}

static void ready(void *arg, uint32_t events)
{
	struct cm_id *listener = arg;
	unsigned left = ACCEPTS_AT_ONCE;

	(void)events;
	pthread_mutex_lock(&cm_lock);
	if (listener->watch != NULL) {
		while (left > 0 && accept_one(listener))
			left--;
	}
	pthread_mutex_unlock(&cm_lock);
}

/* Both ends of the connection; the device of ours. */
static int find_ends(struct cm_id *id, int fd, bool family_only)
{
	socklen_t local_bytes = sizeof(id->local), remote_bytes = sizeof(id->remote);
	union ibv_gid gid;

	if (getsockname(fd, (struct sockaddr *)&id->local, &local_bytes) != 0 ||
	    getpeername(fd, (struct sockaddr *)&id->remote, &remote_bytes) != 0)
		return -errno;
	gid_from_sockaddr(&gid, (struct sockaddr *)&id->local);
	id->device = device_with_gid(&gid);
	if (id->device == NULL)
		return -ENODEV;
	if (family_only && id->local.ss_family == AF_INET6 &&
	    IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&id->local)->sin6_addr))
		return -EAFNOSUPPORT;
	cm_address_unmap(&id->local);
	cm_address_unmap(&id->remote);
	return 0;
}

static struct cm_event *request_event(struct cm_id *listener, struct cm_id *id,
				      const struct cm_message *request)
{
	struct cm_event *event = cm_event_new(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

	if (event == NULL)
		return NULL;
	event->pub.id = &id->pub;
	event->pub.listen_id = &listener->pub;
	cm_event_carry(event, request);
	return event;
}

/* The peer's parameters are ours turned round, until the program accepts with its own. */
static void take_request(struct cm_id *id, const struct cm_message *request)
{
	id->state = CM_REQ_RECEIVED;
	id->retry_count = request->retry_count;
	cm_take_peer(id, request);
}

static int admit(struct cm_stream *stream, const struct cm_message *request)
{
	struct cm_id *listener = stream->listener;
	struct cm_event *event = NULL;
	struct cm_id *id;
	int error;

	if (listener->channel == NULL)
		return -EPIPE;
	id = cm_id_new(listener->channel, listener->pub.context);
	if (id == NULL)
		return -ENOMEM;
	id->tos = listener->tos;
	id->pub.ps = listener->pub.ps;
	id->pub.qp_type = listener->pub.qp_type;
	error = find_ends(id, stream->fd, listener->family_only);
	if (error == 0) {
		event = request_event(listener, id, request);
		error = event == NULL ? -ENOMEM : 0;
	}
	if (error != 0) {
		LIST_REMOVE(id, entry);
		objects_gone(OBJECT_CM_ID, &id->pub);
		objects_free(id);
		return error;
	}
	take_request(id, request);
	stream->listener = NULL;
	stream->deadline_ns = 0;
	stream->id = id;
	id->stream = stream;
	listener->requests++;
	cm_event_push(event);
	return 0;
}

static int hold(struct cm_stream *stream)
{
	unsigned count;

	cm_pending_oldest(NULL, true, &count);
	if (count >= PENDING_MAX)
		return -ENOMEM;
	stream->held = true;
	return agent_watch_change(stream->watch, EPOLLRDHUP);
}

int cm_listen_request(struct cm_stream *stream)
{
	struct cm_id *listener = stream->listener;
	struct cm_message request;
	int bytes = cm_wire_get(stream->bytes, stream->length, &request);
	int error;

	if (bytes <= 0)
		return bytes;
	if (!cm_kind_asks(request.kind))
		return -EPROTO;
	if (listener->state != CM_LISTENING)
		return -EPIPE;
	if (!stream->proven && cm_is_unproven(stream, &request))
		return -EACCES; /* hanging up is a rejection */
	stream->proven = true;
	if ((request.kind == CM_SIDR_REQ) != cm_is_datagram(listener)) {
		cm_refuse_kind(stream, request.kind);
		return -EPROTO;
	}
	if (listener->requests >= listener->backlog)
		return hold(stream);
	error = admit(stream, &request);
	if (error != 0)
		return error;
	stream->length -= (size_t)bytes;
	memmove(stream->bytes, stream->bytes + bytes, stream->length);
	return bytes;
}

/* Called by the thread that got an event: a stream that goes wrong here is left to the agent. */
void cm_listen_admit(struct cm_id *listener)
{
	unsigned count;
	struct cm_stream *stream = cm_pending_oldest(listener, true, &count);

	if (stream == NULL || listener->state != CM_LISTENING)
		return;
	stream->held = false;
	if (cm_listen_request(stream) <= 0 || agent_watch_change(stream->watch, EPOLLIN) != 0)
		cm_stream_end(stream);
}

static struct admission *open_admission(const struct cm_id *id)
{
	union ibv_gid gid;

	gid_from_sockaddr(&gid, (const struct sockaddr *)&id->local);
	return admission_open(&gid, cm_address_port(&id->local));
}

static void close_admission(struct cm_id *id)
{
	admission_close(id->admission);
	id->admission = NULL;
}

/* Lock held. -errno; the id is as it was. */
static int start_listening(struct cm_id *id, int backlog)
{
	const struct sockaddr_in any = {.sin_family = AF_INET};
	const int yes = 1;
	int error = 0;

	if (id->state == CM_IDLE)
		error = cm_bind(id, (const struct sockaddr *)&any);
	if (error == 0 && id->state != CM_BOUND)
		error = CM_REFUSE_STATE(-EINVAL, "rdma_listen", id);
	if (error != 0)
		return error;
	id->admission = open_admission(id);
	if (id->admission == NULL)
		return -errno;
	/* so that the next server gets the port while connections of this one are in time wait */
	if (setsockopt(id->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) != 0 ||
	    listen(id->fd, SOMAXCONN) != 0) {
		error = -errno;
		close_admission(id);
		return error;
	}
	id->backlog = backlog > 0 && backlog < BACKLOG_MAX ? (uint32_t)backlog : BACKLOG_MAX;
	id->watch = agent_watch(id->fd, EPOLLIN, ready, id);
	if (id->watch == NULL) {
		error = -errno;
		close_admission(id);
		return error;
	}
	id->state = CM_LISTENING;
	return 0;
}

SOFT_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	int error;

	CM_ENTER(id);
	pthread_mutex_lock(&cm_lock);
	error = -start_listening(cm_id_of(id), backlog);
	pthread_mutex_unlock(&cm_lock);
	if (error != 0)
		return call_failed(error == EINVAL ? error
						   : CM_REFUSE(error, __func__, cm_id_of(id), "%s",
							       strerror(error)));
	cm_show_local(cm_id_of(id));
	return 0;
}
