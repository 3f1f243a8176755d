/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.c -- the TCP connection that carries the messages of two ids, and the clock
 * of what they wait for.
 *
 * The agent reads; anybody sends. The few short messages of a connection fit into an empty
 * socket buffer, so nothing ever waits for it to drain: a peer that makes it overflow has its
 * connection ended. Only the agent closes a stream, except for the thread that destroys
 * its id (cm_stream_close).
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/address.h"
#include "soft_device/transport/admission.h"

#define REDIALS	  20 /* after a refused port, each after: */
#define REDIAL_NS UINT64_C(5000000)

static struct cm_streams streams = LIST_HEAD_INITIALIZER(streams);

static struct timer *clock_timer;
static uint64_t clock_ns; /* what it is set to; 0: off */
static uint32_t clock_generation;

struct cm_stream *cm_stream_new(int fd, struct cm_id *id, struct cm_id *listener)
{
	struct cm_stream *stream = calloc(1, sizeof(*stream));

	if (stream == NULL)
		return NULL;
	stream->fd = fd;
	stream->id = id;
	stream->listener = listener;
	LIST_INSERT_HEAD(&streams, stream, entry);
	return stream;
}

void cm_stream_delete(struct cm_stream *stream)
{
	if (stream->id != NULL)
		stream->id->stream = NULL;
	LIST_REMOVE(stream, entry);
	cm_stream_close(stream);
}

void cm_stream_end(struct cm_stream *stream)
{
	if (stream == NULL)
		return;
	if (stream->id != NULL)
		stream->id->stream = NULL;
	stream->id = NULL;
	stream->listener = NULL;
	shutdown(stream->fd, SHUT_RDWR);
}

struct cm_stream *cm_stream_detach(struct cm_id *id)
{
	struct cm_stream *stream = id->stream;

	if (stream == NULL)
		return NULL;
	id->stream = NULL;
	stream->id = NULL;
	stream->closing = true;
	LIST_REMOVE(stream, entry);
	return stream;
}

void cm_stream_close(struct cm_stream *stream)
{
	if (stream == NULL)
		return;
	agent_unwatch(stream->watch);
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->handshake);
	free(stream);
}

/* Takes one out of the list, for the caller to close. */
static struct cm_stream *detach_pending(struct cm_id *listener)
{
	struct cm_stream *stream;

	pthread_mutex_lock(&cm_lock);
	LIST_FOREACH(stream, &streams, entry) {
		if (stream->listener == listener)
			break;
	}
	if (stream != NULL) {
		stream->closing = true;
		LIST_REMOVE(stream, entry);
	}
	pthread_mutex_unlock(&cm_lock);
	return stream;
}

void cm_pending_close(struct cm_id *listener)
{
	struct cm_stream *stream;

	while ((stream = detach_pending(listener)) != NULL)
		cm_stream_close(stream);
}

struct cm_stream *cm_pending_oldest(const struct cm_id *listener, bool held, unsigned *count)
{
	struct cm_stream *stream, *oldest = NULL;

	*count = 0;
	LIST_FOREACH(stream, &streams, entry) {
		if (stream->listener == NULL || stream->held != held ||
		    (listener != NULL && stream->listener != listener))
			continue;
		oldest = stream; /* new ones are put in front */
		(*count)++;
	}
	return oldest;
}

void cm_stream_send(struct cm_stream *stream, const struct cm_message *message)
{
	unsigned char bytes[CM_MESSAGE_MAX];
	const size_t length = cm_wire_put(message, bytes);

	/* the agent then reads its end */
	if (send(stream->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		shutdown(stream->fd, SHUT_RDWR);
}

void cm_stream_say(struct cm_stream *stream, enum cm_kind kind)
{
	const struct cm_message message = {.kind = kind};

	cm_stream_send(stream, &message);
}

/* A process of this host gets a token first, so that it knows whose request it is. */
static int knock(const struct cm_stream *stream)
{
	const struct sockaddr *to = (const struct sockaddr *)&stream->id->remote;
	char address[INET6_ADDRSTRLEN] = "";
	union ibv_gid gid;
	int error;

	gid_from_sockaddr(&gid, to);
	if (!gid_is_of_this_host(&gid))
		return 0;
	error = admission_leave_token(&gid, cm_address_port(&stream->id->remote), stream->token);
	inet_ntop(AF_INET6, gid.raw, address, sizeof(address));
	if (error == -EACCES)
		process_warn("%s port %u: refused, it belongs to another user", address,
			     cm_address_port(&stream->id->remote));
	else
		process_warn_files(error, "%s port %u: no connection", address,
				   cm_address_port(&stream->id->remote));
	return error;
}

/* Nonblocking; the outcome comes with EPOLLOUT. */
static int connect_socket(struct cm_stream *stream)
{
	const struct sockaddr *to = (const struct sockaddr *)&stream->id->remote;
	const int yes = 1, tos = stream->id->tos;

	setsockopt(stream->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (to->sa_family == AF_INET)
		setsockopt(stream->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		setsockopt(stream->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	if (connect(stream->fd, to, cm_address_bytes(to)) != 0 && errno != EINPROGRESS)
		return -errno;
	return cm_stream_watch(stream, EPOLLOUT);
}

static int redial(struct cm_stream *stream)
{
	if (stream->redials++ == REDIALS)
		return -ECONNREFUSED;
	stream->deadline_ns = process_now_ns() + REDIAL_NS;
	cm_deadline(stream->deadline_ns);
	return 0;
}

/*
 * Some programs (qperf) tell their port before they listen: on a network the request takes longer
 * than the rest of their way. The socket keeps its port until it is tried again.
 */
int cm_stream_connect(struct cm_stream *stream)
{
	int error = knock(stream);

	stream->connecting = true;
	if (error == 0)
		error = connect_socket(stream);
	return error == -ECONNREFUSED || error == -EAGAIN ? redial(stream) : error;
}

static int refused(struct cm_stream *stream)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	agent_unwatch(stream->watch);
	stream->watch = NULL;
	return connect(stream->fd, &none, sizeof(none)) != 0 ? -errno : redial(stream);
}

/* The request goes out as soon as there is a connection. */
static int finish_connecting(struct cm_stream *stream)
{
	socklen_t bytes = sizeof(int);
	int error = 0;

	if (getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
		return -errno;
	if (error != 0)
		return error == ECONNREFUSED ? refused(stream) : -error;
	error = cm_handshake_connected(stream);
	if (error != 0)
		return error;
	stream->connecting = false;
	stream->length = 0;
	return agent_watch_change(stream->watch, EPOLLIN);
}

/* One message out of the front; 0: none whole. */
static int take_message(struct cm_stream *stream)
{
	struct cm_message message;
	int bytes, error;

	if (stream->handshake != NULL)
		return cm_handshake_take(stream);
	if (stream->id == NULL)
		return cm_listen_request(stream);
	bytes = cm_wire_get(stream->bytes, stream->length, &message);
	if (bytes < 0)
		cm_handshake_missing(stream);
	if (bytes <= 0)
		return bytes;
	stream->length -= (size_t)bytes;
	memmove(stream->bytes, stream->bytes + bytes, stream->length);
	error = cm_arrived(stream->id, &message);
	return error != 0 ? error : bytes;
}

static int receive(struct cm_stream *stream)
{
	ssize_t got = recv(stream->fd, stream->bytes + stream->length,
			   sizeof(stream->bytes) - stream->length, MSG_DONTWAIT);
	int bytes;

	if (got == 0) {
		cm_handshake_broken(stream);
		return -EPIPE;
	}
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	stream->length += (size_t)got;
	do
		bytes = take_message(stream);
	while (bytes > 0 && (stream->id != NULL || stream->handshake != NULL));
	return bytes < 0 ? bytes : 0;
}

static void broken(struct cm_stream *stream, int error)
{
	struct cm_id *id = stream->id;
	const bool connecting = stream->connecting;

	cm_stream_delete(stream);
	if (id != NULL && connecting)
		cm_connecting_failed(id, error);
	else if (id != NULL)
		cm_hung_up(id);
}

static void serve(struct cm_stream *stream)
{
	int error;

	if ((stream->id == NULL && stream->listener == NULL) || stream->held) {
		cm_stream_delete(stream); /* ended; or hung up before its turn */
		return;
	}
	error = stream->connecting ? finish_connecting(stream) : receive(stream);
	if (error != 0)
		broken(stream, error);
}

static void ready(void *arg, uint32_t events)
{
	struct cm_stream *stream = arg;

	(void)events;
	pthread_mutex_lock(&cm_lock);
	if (!stream->closing)
		serve(stream);
	pthread_mutex_unlock(&cm_lock);
}

int cm_stream_watch(struct cm_stream *stream, uint32_t events)
{
	stream->watch = agent_watch(stream->fd, events, ready, stream);
	return stream->watch == NULL ? -errno : 0;
}

static void sooner(uint64_t *earliest_ns, uint64_t at_ns)
{
	if (at_ns != 0 && (*earliest_ns == 0 || at_ns < *earliest_ns))
		*earliest_ns = at_ns;
}

static void expire_ids(uint64_t now_ns, uint64_t *earliest_ns)
{
	struct cm_id *id;

	LIST_FOREACH(id, &cm_ids, entry) {
		if (id->deadline_ns != 0 && id->deadline_ns <= now_ns) {
			id->deadline_ns = 0;
			cm_id_expired(id);
		}
		sooner(earliest_ns, id->deadline_ns);
	}
}

/* A pending peer's time for its request is over, or it is time to try a refused port again. */
static void expire_stream(struct cm_stream *stream)
{
	int error;

	stream->deadline_ns = 0;
	if (stream->listener != NULL && !stream->held) {
		cm_stream_end(stream);
	} else if (stream->watch == NULL) {
		error = stream->id != NULL ? cm_stream_connect(stream) : -ECANCELED;
		if (error != 0)
			broken(stream, error);
	}
}

static void clock_expired(void *arg)
{
	const uint64_t now_ns = process_now_ns();
	struct cm_stream *stream, *next;
	uint64_t earliest_ns = 0;

	(void)arg;
	pthread_mutex_lock(&cm_lock);
	clock_ns = 0;
	expire_ids(now_ns, &earliest_ns);
	for (stream = LIST_FIRST(&streams); stream != NULL; stream = next) {
		next = LIST_NEXT(stream, entry);
		if (stream->deadline_ns != 0 && stream->deadline_ns <= now_ns)
			expire_stream(stream);
		else
			sooner(&earliest_ns, stream->deadline_ns);
	}
	if (earliest_ns != 0)
		cm_deadline(earliest_ns);
	pthread_mutex_unlock(&cm_lock);
}

bool cm_is_unproven(const struct cm_stream *stream, const struct cm_message *request)
{
	union ibv_gid own, remote;
	struct admitted admitted;

	if (gid_of_socket(stream->fd, &own, &remote) != 0)
		return true;
	if (!gid_is_of_this_host(&remote) || admission_take(request->token, &admitted))
		return false;
	admission_refuse(REFUSED_UNPROVEN, &remote);
	return true;
}

int cm_start(void)
{
	if (clock_timer != NULL && !process_is_foreign(clock_generation))
		return 0;
	clock_timer = agent_timer_new(clock_expired, NULL);
	clock_generation = process_current->generation;
	clock_ns = 0;
	return clock_timer == NULL ? -ENOMEM : 0;
}

void cm_deadline(uint64_t at_ns)
{
	if (clock_ns != 0 && clock_ns <= at_ns)
		return;
	clock_ns = at_ns;
	agent_timer_set(clock_timer, at_ns);
}

/* A child of fork() has none of its parent's streams: the agent closed them. */
void cm_streams_forget(void)
{
	LIST_INIT(&streams);
}
