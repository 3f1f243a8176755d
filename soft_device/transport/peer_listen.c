/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listen.c -- where processes that have a QP of ours as destination find this one.
 *
 * A listener, once made, stays until the process ends, and is used again for the next
 * block of QPs on its address: so a peer may remember for good who is at which port.
 * A connection is pending until its peer has shown who it is and what the connection is for: it
 * has a slot, and room for one handshake message, and never reads more than it knows to be
 * well-formed. The time for that is limited, and where there are too many the oldest is closed. One
 * from an address of this host has to show a token that its process left before (admission.h), else
 * it gets no answer; one of another host the secret, if there is one (handshake.h).
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "admission.h"
#include "handshake.h"
#include "peer_private.h"
#include "soft_device/process/process.h"

#define PENDING_MAX 256
#define PORT_TRIES  64			/* another user may hold the name of a unix socket */
#define PAUSE_NS    UINT64_C(100000000) /* a listener's, when no file descriptor is left */

struct listener {
	struct listener *next;
	int fd;
	struct admission *admission;
	struct watch *watch;
	struct timer *resume;
	union ibv_gid gid;
	uint16_t port;
};

struct pending_peer {
	struct pending_peer *next; /* younger */
	int fd;
	struct watch *watch;
	struct timer *limit;
	struct peer_key key;
	bool admitted;		    /* who it is is known */
	struct handshake handshake; /* with a process of another host */
	unsigned length;
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
};

static struct listener *listeners; /* objects lock */
/* the parent's, before a fork(); here for leak checkers */
static struct listener *inherited;
static struct pending_peer *inherited_pending;
static struct wire_handshake own; /* identity 0: not made; under handshake_lock */
static pthread_mutex_t handshake_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending_list { /* the agent's */
	struct pending_peer *oldest;
	unsigned count;
} pending;

const struct wire_handshake *peer_handshake(void)
{
	pthread_mutex_lock(&handshake_lock);
	if (own.identity == 0)
		local_handshake_make(&own);
	pthread_mutex_unlock(&handshake_lock);
	return &own;
}

bool peer_listens_at(const union ibv_gid *gid, uint16_t port)
{
	const struct shared_block *block = process_current->segment->block;

	for (unsigned i = 0; i < SEGMENT_BLOCKS; i++) {
		if (atomic_load(&block[i].port) == port &&
		    memcmp(&block[i].gid, gid, sizeof(*gid)) == 0)
			return true;
	}
	return false;
}

static void pending_free(struct pending_peer *peer)
{
	LIST_TAKE_OUT(pending.oldest, peer, next);
	pending.count--;
	agent_unwatch(peer->watch);
	agent_timer_delete(peer->limit);
	if (peer->fd >= 0)
		close(peer->fd);
	free(peer);
}

static void pending_late(void *arg)
{
	pending_free(arg);
}

/* The socket is fresh: there is room for it. */
static bool answer(const struct pending_peer *peer, const void *bytes, size_t length)
{
	return send(peer->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)length;
}

/* A process of this host; false: it has not proven its user, and gets no answer. */
static bool welcome_neighbour(struct pending_peer *peer, const struct wire_handshake *handshake)
{
	struct wire_handshake reply = {.identity = peer_handshake()->identity};
	unsigned char bytes[WIRE_HANDSHAKE_MESSAGE];
	struct admitted admitted;

	if (!admission_take(handshake->token, &admitted) ||
	    admitted.identity != handshake->identity) {
		admission_refuse(REFUSED_UNPROVEN, &peer->key.remote);
		return false;
	}
	peer->key = (struct peer_key){.identity = admitted.identity, .pid = admitted.pid};
	peer->admitted = true;
	memcpy(reply.token, admitted.answer, sizeof(reply.token));
	wire_put_handshake(bytes, &reply);
	return answer(peer, bytes, sizeof(bytes));
}

/* A message of a process of another host; false: it is told why, at most. */
static bool shake_hands(struct pending_peer *peer, size_t length)
{
	struct handshake *handshake = &peer->handshake;
	unsigned char bytes[HANDSHAKE_MESSAGE];
	size_t reply;
	const int result =
		handshake_take(handshake, peer->bytes + WIRE_HEADER_BYTES, length, bytes, &reply);

	if (handshake_describe(result) != NULL)
		admission_refuse(REFUSED_SECRET, &peer->key.remote);
	if (result > 0) {
		peer->key.identity = handshake->first[HANDSHAKE_CLIENT].identity;
		peer->admitted = true;
	}
	return (reply == 0 || answer(peer, bytes, reply)) && result >= 0;
}

static bool pending_handshake(struct pending_peer *peer, size_t length)
{
	struct peer_key *key = &peer->key;
	struct wire_handshake handshake;

	if (wire_get_handshake(peer->bytes + WIRE_HEADER_BYTES, length, &handshake) != 0 ||
	    gid_of_socket(peer->fd, &key->own, &key->remote) != 0)
		return false;
	if (gid_is_of_this_host(&key->remote))
		return welcome_neighbour(peer, &handshake);
	return handshake_begin(&peer->handshake, HANDSHAKE_SERVER, peer_handshake()->identity,
			       &key->own, &key->remote) == 0 &&
	       shake_hands(peer, length);
}

/* False. */
static bool begin_service(struct pending_peer *peer)
{
	agent_unwatch(peer->watch);
	peer->watch = NULL;
	if (tcp_serve(peer->fd, &peer->key) == 0)
		peer->fd = -1;
	return false; /* it is not pending any more */
}

/* One whole message; false: the connection is closed, or has become a service. */
static bool pending_message(struct pending_peer *peer, const struct wire_header *header)
{
	if (peer->admitted)
		return begin_service(peer);
	return peer->handshake.met ? shake_hands(peer, header->length)
				   : pending_handshake(peer, header->length);
}

/* Bytes of the message that is to come: no more is read. -EPROTO. */
static int pending_needs(const struct pending_peer *peer, struct wire_header *header)
{
	if (peer->length < WIRE_HEADER_BYTES)
		return WIRE_HEADER_BYTES;
	if (wire_get_header(peer->bytes, header) != 0 ||
	    header->kind != (peer->admitted ? WIRE_CARRY : handshake_expects(&peer->handshake)))
		return -EPROTO;
	return (int)(WIRE_HEADER_BYTES + header->length);
}

/* False: it is to be closed. */
static bool pending_read(struct pending_peer *peer)
{
	struct wire_header header = {0};
	int needs;

	while ((needs = pending_needs(peer, &header)) > 0) {
		const size_t missing = (size_t)needs - peer->length;
		ssize_t got;

		if (missing == 0) {
			if (!pending_message(peer, &header))
				return false;
			peer->length = 0;
			continue;
		}
		got = recv(peer->fd, peer->bytes + peer->length, missing, MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		peer->length += (unsigned)got;
	}
	return false;
}

static void pending_ready(void *arg, uint32_t events)
{
	(void)events;
	if (!pending_read(arg))
		pending_free(arg);
}

static void pending_new(int fd)
{
	struct pending_peer *peer = calloc(1, sizeof(*peer));
	struct pending_peer **at = &pending.oldest;

	if (peer == NULL) {
		close(fd);
		return;
	}
	if (pending.count == PENDING_MAX) {
		admission_refuse(REFUSED_CROWD, NULL);
		pending_free(pending.oldest);
	}
	while (*at != NULL)
		at = &(*at)->next;
	*at = peer;
	pending.count++;
	peer->fd = fd;
	tcp_watch_host(fd);
	peer->limit = agent_timer_new(pending_late, peer);
	peer->watch = agent_watch(fd, EPOLLIN, pending_ready, peer);
	if (peer->limit == NULL || peer->watch == NULL) {
		pending_free(peer);
		return;
	}
	agent_timer_set(peer->limit, process_now_ns() + HANDSHAKE_LIMIT_NS);
}

static void listener_resume(void *arg)
{
	struct listener *listener = arg;

	agent_watch_change(listener->watch, EPOLLIN);
}

/* Level-triggered epoll would spin on a connection that cannot be accepted. */
static void listener_pause(struct listener *listener)
{
	agent_watch_change(listener->watch, 0);
	agent_timer_set(listener->resume, process_now_ns() + PAUSE_NS);
}

static void listener_ready(void *arg, uint32_t events)
{
	struct listener *listener = arg;
	const int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)events;
	if (fd >= 0)
		pending_new(fd);
	else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
		listener_pause(listener);
}

static int listener_bind(struct listener *listener, uint32_t scope_id)
{
	struct sockaddr_storage addr;
	socklen_t bytes = gid_to_sockaddr(&listener->gid, 0, scope_id, &addr);
	const int only = 1;

	listener->fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener->fd < 0)
		return -errno;
	if (addr.ss_family == AF_INET6 &&
	    setsockopt(listener->fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)) != 0)
		return -errno;
	if (bind(listener->fd, (struct sockaddr *)&addr, bytes) != 0 ||
	    listen(listener->fd, SOMAXCONN) != 0 ||
	    getsockname(listener->fd, (struct sockaddr *)&addr, &bytes) != 0)
		return -errno;
	/* both families have the port at the same offset */
	listener->port = ntohs(((struct sockaddr_in *)&addr)->sin_port);
	return 0;
}

/* At a port whose unix socket is free as well. */
static int listener_open(struct listener *listener, uint32_t scope_id)
{
	int result = -EADDRINUSE;

	for (unsigned i = 0; i < PORT_TRIES && result == -EADDRINUSE; i++) {
		if (listener->fd >= 0)
			close(listener->fd);
		result = listener_bind(listener, scope_id);
		if (result != 0)
			break;
		listener->admission = admission_open(&listener->gid, listener->port);
		if (listener->admission == NULL)
			result = -errno;
	}
	return result;
}

static int listener_new(const union ibv_gid *gid, uint32_t scope_id, struct listener **out)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int result;

	if (listener == NULL)
		return -ENOMEM;
	listener->gid = *gid;
	listener->fd = -1;
	result = listener_open(listener, scope_id);
	if (result == 0) {
		listener->resume = agent_timer_new(listener_resume, listener);
		if (listener->resume == NULL)
			result = -ENOMEM;
	}
	if (result == 0) {
		listener->watch = agent_watch(listener->fd, EPOLLIN, listener_ready, listener);
		if (listener->watch == NULL)
			result = -errno;
	}
	if (result == 0) {
		*out = listener;
		return 0;
	}
	agent_timer_delete(listener->resume);
	admission_close(listener->admission);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
	return result;
}

int peer_listen(const union ibv_gid *gid, uint32_t scope_id, unsigned block)
{
	struct shared_block *shared = &process_current->segment->block[block];
	struct listener *listener;
	const int result = listener_new(gid, scope_id, &listener);

	if (result != 0)
		return result;
	listener->next = listeners;
	listeners = listener;
	shared->gid = *gid;
	atomic_store(&shared->port, listener->port);
	return 0;
}

static void forked(void)
{
	if (listeners != NULL)
		inherited = listeners;
	listeners = NULL;
	memset(&own, 0, sizeof(own));
	inherited_pending = pending.oldest;
	memset(&pending, 0, sizeof(pending));
	tcp_serve_forked();
}

const struct process_part listen_part = {.lock = &handshake_lock, .forked = forked};
