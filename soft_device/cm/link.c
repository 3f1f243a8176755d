/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link.c -- the TCP connection that carries the messages of two ids, and the clock
 * of what they wait for.
 *
 * The agent reads; anybody sends. The few short messages of a connection fit into an empty
 * socket buffer, so nothing ever waits for it to drain: a peer that makes it overflow has its
 * connection ended. Only the agent closes a link, except for the thread that destroys
 * its id (cm_link_close).
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

static struct cm_links links = LIST_HEAD_INITIALIZER(links);

static struct timer *clock_timer;
static uint64_t clock_ns; /* what it is set to; 0: off */
static uint32_t clock_generation;

struct cm_link *cm_link_new(int fd, struct cm_id *id, struct cm_id *listener)
{
	struct cm_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	link->fd = fd;
	link->id = id;
	link->listener = listener;
	LIST_INSERT_HEAD(&links, link, entry);
	return link;
}

void cm_link_delete(struct cm_link *link)
{
	if (link->id != NULL)
		link->id->link = NULL;
	LIST_REMOVE(link, entry);
	cm_link_close(link);
}

void cm_link_end(struct cm_link *link)
{
	if (link == NULL)
		return;
	if (link->id != NULL)
		link->id->link = NULL;
	link->id = NULL;
	link->listener = NULL;
	shutdown(link->fd, SHUT_RDWR);
}

struct cm_link *cm_link_detach(struct cm_id *id)
{
	struct cm_link *link = id->link;

	if (link == NULL)
		return NULL;
	id->link = NULL;
	link->id = NULL;
	link->closing = true;
	LIST_REMOVE(link, entry);
	return link;
}

void cm_link_close(struct cm_link *link)
{
	if (link == NULL)
		return;
	agent_unwatch(link->watch);
	if (link->fd >= 0)
		close(link->fd);
	free(link->handshake);
	free(link);
}

/* Takes one out of the list, for the caller to close. */
static struct cm_link *detach_pending(struct cm_id *listener)
{
	struct cm_link *link;

	pthread_mutex_lock(&cm_lock);
	LIST_FOREACH(link, &links, entry) {
		if (link->listener == listener)
			break;
	}
	if (link != NULL) {
		link->closing = true;
		LIST_REMOVE(link, entry);
	}
	pthread_mutex_unlock(&cm_lock);
	return link;
}

void cm_pending_close(struct cm_id *listener)
{
	struct cm_link *link;

	while ((link = detach_pending(listener)) != NULL)
		cm_link_close(link);
}

struct cm_link *cm_pending_oldest(const struct cm_id *listener, bool held, unsigned *count)
{
	struct cm_link *link, *oldest = NULL;

	*count = 0;
	LIST_FOREACH(link, &links, entry) {
		if (link->listener == NULL || link->held != held ||
		    (listener != NULL && link->listener != listener))
			continue;
		oldest = link; /* new ones are put in front */
		(*count)++;
	}
	return oldest;
}

void cm_link_send(struct cm_link *link, const struct cm_message *message)
{
	unsigned char bytes[CM_MESSAGE_MAX];
	const size_t length = cm_wire_put(message, bytes);

	/* the agent then reads its end */
	if (send(link->fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		shutdown(link->fd, SHUT_RDWR);
}

void cm_link_say(struct cm_link *link, enum cm_kind kind)
{
	const struct cm_message message = {.kind = kind};

	cm_link_send(link, &message);
}

/* A process of this host gets a token first, so that it knows whose request it is. */
static int knock(const struct cm_link *link)
{
	const struct sockaddr *to = (const struct sockaddr *)&link->id->remote;
	char address[INET6_ADDRSTRLEN] = "";
	union ibv_gid gid;
	int error;

	gid_from_sockaddr(&gid, to);
	if (!gid_is_of_this_host(&gid))
		return 0;
	error = admission_leave_token(&gid, cm_address_port(&link->id->remote), link->token);
	inet_ntop(AF_INET6, gid.raw, address, sizeof(address));
	if (error == -EACCES)
		process_warn("%s port %u: refused, it belongs to another user", address,
			     cm_address_port(&link->id->remote));
	else
		process_warn_files(error, "%s port %u: no connection", address,
				   cm_address_port(&link->id->remote));
	return error;
}

/* Nonblocking; the outcome comes with EPOLLOUT. */
static int connect_socket(struct cm_link *link)
{
	const struct sockaddr *to = (const struct sockaddr *)&link->id->remote;
	const int yes = 1, tos = link->id->tos;

	setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	if (to->sa_family == AF_INET)
		setsockopt(link->fd, IPPROTO_IP, IP_TOS, &tos, sizeof(tos));
	else
		setsockopt(link->fd, IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof(tos));
	if (connect(link->fd, to, cm_address_bytes(to)) != 0 && errno != EINPROGRESS)
		return -errno;
	return cm_link_watch(link, EPOLLOUT);
}

static int redial(struct cm_link *link)
{
	if (link->redials++ == REDIALS)
		return -ECONNREFUSED;
	link->deadline_ns = process_now_ns() + REDIAL_NS;
	cm_deadline(link->deadline_ns);
	return 0;
}

/*
 * Some programs (qperf) tell their port before they listen: on a network the request takes longer
 * than the rest of their way. The socket keeps its port until it is tried again.
 */
int cm_link_connect(struct cm_link *link)
{
	int error = knock(link);

	link->connecting = true;
	if (error == 0)
		error = connect_socket(link);
	return error == -ECONNREFUSED || error == -EAGAIN ? redial(link) : error;
}

static int refused(struct cm_link *link)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	agent_unwatch(link->watch);
	link->watch = NULL;
	return connect(link->fd, &none, sizeof(none)) != 0 ? -errno : redial(link);
}

/* The request goes out as soon as there is a connection. */
static int finish_connecting(struct cm_link *link)
{
	socklen_t bytes = sizeof(int);
	int error = 0;

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
		return -errno;
	if (error != 0)
		return error == ECONNREFUSED ? refused(link) : -error;
	error = cm_handshake_connected(link);
	if (error != 0)
		return error;
	link->connecting = false;
	link->length = 0;
	return agent_watch_change(link->watch, EPOLLIN);
}

/* One message out of the front; 0: none whole. */
static int take_message(struct cm_link *link)
{
	struct cm_message message;
	int bytes, error;

	if (link->handshake != NULL)
		return cm_handshake_take(link);
	if (link->id == NULL)
		return cm_listen_request(link);
	bytes = cm_wire_get(link->bytes, link->length, &message);
	if (bytes < 0)
		cm_handshake_missing(link);
	if (bytes <= 0)
		return bytes;
	link->length -= (size_t)bytes;
	memmove(link->bytes, link->bytes + bytes, link->length);
	error = cm_arrived(link->id, &message);
	return error != 0 ? error : bytes;
}

static int receive(struct cm_link *link)
{
	ssize_t got = recv(link->fd, link->bytes + link->length, sizeof(link->bytes) - link->length,
			   MSG_DONTWAIT);
	int bytes;

	if (got == 0) {
		cm_handshake_broken(link);
		return -EPIPE;
	}
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	link->length += (size_t)got;
	do
		bytes = take_message(link);
	while (bytes > 0 && (link->id != NULL || link->handshake != NULL));
	return bytes < 0 ? bytes : 0;
}

static void broken(struct cm_link *link, int error)
{
	struct cm_id *id = link->id;
	const bool connecting = link->connecting;

	cm_link_delete(link);
	if (id != NULL && connecting)
		cm_connecting_failed(id, error);
	else if (id != NULL)
		cm_hung_up(id);
}

static void serve(struct cm_link *link)
{
	int error;

	if ((link->id == NULL && link->listener == NULL) || link->held) {
		cm_link_delete(link); /* ended; or hung up before its turn */
		return;
	}
	error = link->connecting ? finish_connecting(link) : receive(link);
	if (error != 0)
		broken(link, error);
}

static void ready(void *arg, uint32_t events)
{
	struct cm_link *link = arg;

	(void)events;
	pthread_mutex_lock(&cm_lock);
	if (!link->closing)
		serve(link);
	pthread_mutex_unlock(&cm_lock);
}

int cm_link_watch(struct cm_link *link, uint32_t events)
{
	link->watch = agent_watch(link->fd, events, ready, link);
	return link->watch == NULL ? -errno : 0;
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
static void expire_link(struct cm_link *link)
{
	int error;

	link->deadline_ns = 0;
	if (link->listener != NULL && !link->held) {
		cm_link_end(link);
	} else if (link->watch == NULL) {
		error = link->id != NULL ? cm_link_connect(link) : -ECANCELED;
		if (error != 0)
			broken(link, error);
	}
}

static void clock_expired(void *arg)
{
	const uint64_t now_ns = process_now_ns();
	struct cm_link *link, *next;
	uint64_t earliest_ns = 0;

	(void)arg;
	pthread_mutex_lock(&cm_lock);
	clock_ns = 0;
	expire_ids(now_ns, &earliest_ns);
	for (link = LIST_FIRST(&links); link != NULL; link = next) {
		next = LIST_NEXT(link, entry);
		if (link->deadline_ns != 0 && link->deadline_ns <= now_ns)
			expire_link(link);
		else
			sooner(&earliest_ns, link->deadline_ns);
	}
	if (earliest_ns != 0)
		cm_deadline(earliest_ns);
	pthread_mutex_unlock(&cm_lock);
}

bool cm_is_unproven(const struct cm_link *link, const struct cm_message *request)
{
	union ibv_gid own, remote;
	struct admitted admitted;

	if (gid_of_socket(link->fd, &own, &remote) != 0)
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

/* A child of fork() has none of its parent's links: the agent closed them. */
void cm_links_forget(void)
{
	LIST_INIT(&links);
}
