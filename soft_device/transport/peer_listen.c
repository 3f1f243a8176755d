/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listen.c -- where processes that have a QP of ours as destination find this one.
 *
 * A listener, once made, stays until the process ends, and is used again for the next
 * block of QPs on its address: so a peer may remember for good who is at which port.
 * A connection is pending until its peer has sent its hello and what the connection
 * is for; the time for that is limited, and where there are too many the oldest is
 * closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "peer_private.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define PENDING_MAX 256
#define PAUSE_NS    UINT64_C(100000000) /* a listener's, when no file descriptor is left */

struct listener {
	struct listener *next;
	int fd;
	struct watch *watch;
	struct timer *resume;
	union ibv_gid gid;
	uint16_t port;
};

struct pending_peer {
	struct pending_peer *next; /* younger */
	struct stream stream;
	struct watch *watch;
	struct timer *limit;
	uint64_t identity; /* 0: has not said hello */
};

static struct listener *listeners; /* objects lock */
/* the parent's, before a fork(); here for leak checkers */
static struct listener *inherited;
static struct pending_peer *inherited_pending;
static struct wire_hello own; /* identity 0: not made; objects lock until then */
static struct pending_list {  /* the agent's */
	struct pending_peer *oldest;
	unsigned count;
} pending;

const struct wire_hello *peer_hello(void)
{
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
	struct pending_peer **at = &pending.oldest;

	while (*at != peer)
		at = &(*at)->next;
	*at = peer->next;
	pending.count--;
	agent_unwatch(peer->watch);
	agent_timer_delete(peer->limit);
	stream_close(&peer->stream);
	free(peer);
}

static void pending_late(void *arg)
{
	pending_free(arg);
}

/* Answers a hello; false: the connection is closed. */
static bool welcome(struct pending_peer *peer, const struct wire_hello *hello)
{
	unsigned char bytes[WIRE_HELLO_MESSAGE];
	const struct iovec part = {bytes, sizeof(bytes)};
	struct wire_hello reply = own;

	if (hello_of_other_user(&own, hello) || hello_socket_of_other_user(peer->stream.fd))
		reply.welcome = WIRE_OTHER_USER;
	peer->identity = hello->identity;
	wire_put_hello(bytes, &reply);
	return stream_send(&peer->stream, &part, 1) == 0 && stream_queued(&peer->stream) == 0 &&
	       reply.welcome == WIRE_WELCOME;
}

static void begin_service(struct pending_peer *peer)
{
	struct stream stream = peer->stream;
	const uint64_t identity = peer->identity;

	stream_open(&peer->stream, -1);
	agent_unwatch(peer->watch);
	peer->watch = NULL;
	pending_free(peer);
	tcp_serve(&stream, identity);
}

static void pending_ready(void *arg, uint32_t events)
{
	struct pending_peer *peer = arg;
	const unsigned char *body;
	struct wire_header header;
	struct wire_hello hello;
	int got;

	(void)events;
	if (stream_receive(&peer->stream) != 0) {
		pending_free(peer);
		return;
	}
	while ((got = stream_next(&peer->stream, &header, &body)) == 1) {
		if (peer->identity != 0 && header.kind == WIRE_CARRY) {
			begin_service(peer);
			return;
		}
		if (peer->identity != 0 || header.kind != WIRE_HELLO ||
		    wire_get_hello(body, header.length, &hello) != 0 || !welcome(peer, &hello)) {
			pending_free(peer);
			return;
		}
	}
	if (got != 0)
		pending_free(peer);
}

static void pending_new(int fd)
{
	struct pending_peer *peer = calloc(1, sizeof(*peer));
	struct pending_peer **at = &pending.oldest;

	if (peer == NULL) {
		close(fd);
		return;
	}
	if (pending.count == PENDING_MAX)
		pending_free(pending.oldest);
	while (*at != NULL)
		at = &(*at)->next;
	*at = peer;
	pending.count++;
	stream_open(&peer->stream, fd);
	tcp_watch_host(fd);
	peer->limit = agent_timer_new(pending_late, peer);
	peer->watch = agent_watch(fd, EPOLLIN, pending_ready, peer);
	if (peer->limit == NULL || peer->watch == NULL) {
		pending_free(peer);
		return;
	}
	agent_timer_set(peer->limit, process_now_ns() + HELLO_LIMIT_NS);
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
	/* both families have the port at the same place */
	listener->port = ntohs(((struct sockaddr_in *)&addr)->sin_port);
	return 0;
}

static int listener_new(const union ibv_gid *gid, uint32_t scope_id, struct listener **out)
{
	struct listener *listener = calloc(1, sizeof(*listener));
	int result;

	if (listener == NULL)
		return -ENOMEM;
	listener->gid = *gid;
	result = listener_bind(listener, scope_id);
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
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
	return result;
}

/*
 * With transport:tcp there is no unix socket, so no peer maps us. Else siblings must be allowed
 * to reach our memory where Yama guards it (ptrace_scope 1); EINVAL where it does not.
 */
static int introduce(void)
{
	struct wire_hello hello;
	int result = 0;

	if (own.identity != 0)
		return 0;
	hello_make(&hello);
	if (process_current->options.transport != SOFT_TRANSPORT_TCP) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		result = unix_listen(&hello);
	}
	if (result == 0)
		own = hello;
	return result;
}

int peer_listen(const union ibv_gid *gid, uint32_t scope_id, unsigned block)
{
	struct shared_block *shared = &process_current->segment->block[block];
	struct listener *listener;
	int result = introduce();

	if (result == 0)
		result = listener_new(gid, scope_id, &listener);
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
	unix_forked();
}

const struct process_part listen_part = {.forked = forked};
