/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.c -- operations on a peer over the connection this process made to it.
 *
 * The posting thread sends as much as the socket takes, under the lock, and
 * leaves the rest to the agent. The peer answers in the order of the requests:
 * `pending` has what is known of those outstanding, so that an answer need
 * not, and cannot, say whose it is.
 */
#include "tcp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "peer_private.h"
#include "stream.h"

#define QUEUED_MAX (256 * 1024) /* bytes that may wait when another request comes */

struct pending {
	uint64_t ticket;
	union ibv_gid gid; /* the own QP's */
	uint32_t qpn;
	uint32_t bytes; /* data moved on success */
};

struct tcp {
	struct peer *peer;
	struct exchange *exchange;
	struct watch *watch;
	pthread_mutex_t lock; /* all below; of the stream the sending half */
	struct stream stream;
	bool closed;
	bool writing;		 /* the watch waits for EPOLLOUT */
	bool wants_resume;	 /* a caller got -EAGAIN */
	struct pending *pending; /* a ring */
	uint32_t pending_slots;	 /* power of two */
	uint32_t asked;		 /* requests sent, free-running: the next one's number */
	uint32_t answered;
};

void tcp_watch_host(int fd)
{
	const int on = 1, seconds = 1, probes = 3;
	const unsigned limit_ms = 3000;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof(limit_ms));
}

/* Room for one more. Callers hold the lock. */
static int grow_pending(struct tcp *tcp)
{
	const uint32_t slots = tcp->pending_slots == 0 ? 64 : 2 * tcp->pending_slots;
	struct pending *larger;

	if (tcp->asked - tcp->answered < tcp->pending_slots)
		return 0;
	larger = malloc(slots * sizeof(*larger));
	if (larger == NULL)
		return -ENOMEM;
	for (uint32_t i = tcp->answered; i != tcp->asked; i++)
		larger[i & (slots - 1)] = tcp->pending[i & (tcp->pending_slots - 1)];
	free(tcp->pending);
	tcp->pending = larger;
	tcp->pending_slots = slots;
	return 0;
}

/* Callers hold the lock. */
static void expect_writable(struct tcp *tcp, bool writing)
{
	if (writing == tcp->writing)
		return;
	tcp->writing = writing;
	agent_watch_change(tcp->watch, writing ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Callers hold the lock. */
static int send_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
			const struct request *request)
{
	unsigned char start[WIRE_REQUEST_START];
	struct iovec parts[STREAM_PARTS_MAX] = {{start, sizeof(start)}};
	unsigned count = 1;
	int result = grow_pending(tcp);

	if (result != 0)
		return result;
	wire_put_request(start, tcp->asked, atomic_load(&tcp->exchange->begun), gid, qpn, request);
	if (wire_payload(request) > 0) {
		memcpy(parts + 1, request->local, request->local_count * sizeof(parts[0]));
		count += request->local_count;
	}
	tcp->pending[tcp->asked & (tcp->pending_slots - 1)] =
		(struct pending){.ticket = ticket,
				 .gid = request->src_gid,
				 .qpn = request->src_qpn,
				 .bytes = wire_answer_data(request)};
	tcp->asked++;
	return stream_send(&tcp->stream, parts, count);
}

int tcp_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
		const struct request *request)
{
	int result = 0;

	pthread_mutex_lock(&tcp->lock);
	if (tcp->closed) {
		result = -EPIPE;
	} else if (stream_queued(&tcp->stream) > QUEUED_MAX) {
		tcp->wants_resume = true;
		result = -EAGAIN;
	} else if (send_request(tcp, gid, qpn, ticket, request) != 0) {
		/* a part may be out: the connection is of no use, and the agent sees its end */
		shutdown(tcp->stream.fd, SHUT_RDWR);
		result = -EPIPE;
	} else {
		expect_writable(tcp, stream_queued(&tcp->stream) > 0);
	}
	pthread_mutex_unlock(&tcp->lock);
	return result;
}

/* The request that an answer is for; false: there is none, or it cannot be its answer. */
static bool take_pending(struct tcp *tcp, const struct wire_answer *answer, struct pending *pending)
{
	bool fits = false;

	pthread_mutex_lock(&tcp->lock);
	if (tcp->answered != tcp->asked && answer->number == tcp->answered) {
		*pending = tcp->pending[tcp->answered & (tcp->pending_slots - 1)];
		tcp->answered++;
		fits = answer->outcome.kind != OUTCOME_DONE ||
		       answer->outcome.status != IBV_WC_SUCCESS || answer->bytes == pending->bytes;
	}
	pthread_mutex_unlock(&tcp->lock);
	return fits;
}

static int receive_answers(struct tcp *tcp)
{
	const unsigned char *body;
	struct wire_header header;
	struct wire_answer answer;
	struct pending pending;
	int result = stream_receive(&tcp->stream);

	while (result == 0) {
		result = stream_next(&tcp->stream, &header, &body);
		if (result != 1)
			break;
		if (header.kind != WIRE_ANSWER ||
		    wire_get_answer(body, header.length, &answer) != 0 ||
		    !take_pending(tcp, &answer, &pending))
			return -EPROTO;
		peer_user->answered(pending.qpn, &pending.gid, pending.ticket, &answer.outcome,
				    body + WIRE_ANSWER_BYTES, answer.bytes);
		result = 0;
	}
	return result;
}

bool tcp_has_answers(struct tcp *tcp, uint32_t after)
{
	/* answered is written by this thread alone */
	while ((int32_t)(tcp->answered - after) < 0) {
		const uint32_t before = tcp->answered;

		if (receive_answers(tcp) != 0) {
			shutdown(tcp->stream.fd, SHUT_RDWR); /* the watch tells the end */
			return true;
		}
		if (tcp->answered == before)
			return false;
	}
	return true;
}

static int send_queued(struct tcp *tcp)
{
	bool resume = false;
	int result;

	pthread_mutex_lock(&tcp->lock);
	result = stream_flush(&tcp->stream);
	if (result == 0) {
		expect_writable(tcp, stream_queued(&tcp->stream) > 0);
		resume = tcp->wants_resume && stream_queued(&tcp->stream) <= QUEUED_MAX / 2;
	}
	if (resume)
		tcp->wants_resume = false;
	pthread_mutex_unlock(&tcp->lock);
	if (resume)
		peer_user->resume(tcp->peer);
	return result;
}

static void tcp_ready(void *arg, uint32_t events)
{
	struct tcp *tcp = arg;
	int result = 0;

	if ((events & EPOLLOUT) != 0)
		result = send_queued(tcp);
	if (result == 0 && (events & ~(uint32_t)EPOLLOUT) != 0)
		result = receive_answers(tcp);
	if (result != 0)
		peer_lost(tcp->peer);
	else
		tcp_serve_resume(tcp->exchange);
}

struct tcp *tcp_open(struct peer *peer, struct stream *stream)
{
	struct tcp *tcp = calloc(1, sizeof(*tcp));

	if (tcp == NULL)
		return NULL;
	tcp->peer = peer;
	tcp->exchange = exchange_get(&peer->key);
	tcp->stream = *stream;
	tcp->writing = stream_queued(stream) > 0;
	pthread_mutex_init(&tcp->lock, NULL);
	if (tcp->exchange != NULL)
		tcp->watch = agent_watch(stream->fd, tcp->writing ? EPOLLIN | EPOLLOUT : EPOLLIN,
					 tcp_ready, tcp);
	if (tcp->exchange == NULL || tcp->watch == NULL) {
		tcp_free(tcp);
		return NULL;
	}
	tcp->exchange->tcp = tcp;
	stream_open(stream, -1);
	return tcp;
}

void tcp_close(struct tcp *tcp)
{
	agent_unwatch(tcp->watch);
	pthread_mutex_lock(&tcp->lock);
	tcp->closed = true;
	stream_close(&tcp->stream);
	pthread_mutex_unlock(&tcp->lock);
	if (tcp->exchange->tcp == tcp)
		tcp->exchange->tcp = NULL;
	tcp_serve_resume(tcp->exchange);
}

void tcp_free(struct tcp *tcp)
{
	if (tcp == NULL)
		return;
	exchange_put(tcp->exchange);
	free(tcp->pending);
	pthread_mutex_destroy(&tcp->lock);
	free(tcp);
}
