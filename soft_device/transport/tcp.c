/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp.c -- operations on a peer over the connection this process made to it.
 *
 * The posting thread sends as much as the socket takes, under the lock, and
 * leaves the rest to the agent. The peer answers in the order of the requests:
 * `pending` has what is known of those outstanding, so that an answer need
 * not, and cannot, say whose it is.
 *
 * A thread that polls for completions receives the answers itself: it spins on a core that the
 * agent would need. So the agent does not watch for answers on a connection while a thread polls,
 * until a CQ is armed, and looks now and then whether the thread still polls.
 */
#include "tcp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "peer_private.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define QUEUED_MAX (256 * 1024) /* bytes that may wait when another request comes */
#define LOOKS_MAX  16		/* connections that one poll looks at for a request */

/* A thread that polled so recently will do so again; the agent looks so much later whether it did;
 * one that armed a CQ so recently will do that again. */
#define POLLED_NS 500000
#define LATER_NS  500000
#define ARMED_NS  10000000

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
	struct tcp *next;	    /* in `connections` */
	int error;		    /* a thread that polled met the end; `receiving` */
	_Atomic uint64_t polled_ns; /* when a thread looked for answers here */
	pthread_mutex_t lock;	    /* all below; of the stream the sending half */
	struct stream stream;
	bool closed;
	bool writing;		   /* the watch waits for EPOLLOUT */
	bool left;		   /* ... and not for EPOLLIN, as a thread polls */
	bool wants_resume;	   /* a caller got -EAGAIN */
	struct pending *pending;   /* a ring */
	uint32_t pending_slots;	   /* power of two */
	_Atomic uint32_t asked;	   /* requests sent, free-running: the next one's number */
	_Atomic uint32_t answered; /* and dealt with; `receiving` */
};

/* The receiving half of all connections. The agent alone changes the list, under it. */
static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER;
static struct tcp *_Atomic connections;
static struct tcp *turn;      /* the one that the next poll looks at first; `receiving` */
static struct timer *tending; /* tend(); NULL before the first connection */

static _Atomic uint32_t left_count;
static _Atomic uint64_t armed_ns; /* when a CQ was armed */
_Atomic uint32_t tcp_unanswered;

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

/* Sets the events that the agent watches for. Callers hold the lock. */
static void expect(struct tcp *tcp, bool writing, bool left)
{
	if (writing == tcp->writing && left == tcp->left)
		return;
	if (left != tcp->left)
		atomic_fetch_add(&left_count, left ? 1 : UINT32_MAX);
	tcp->writing = writing;
	tcp->left = left;
	agent_watch_change(tcp->watch, (left ? 0u : EPOLLIN) | (writing ? EPOLLOUT : 0u));
}

static void expect_answers(struct tcp *tcp, bool left)
{
	pthread_mutex_lock(&tcp->lock);
	expect(tcp, tcp->writing, left);
	pthread_mutex_unlock(&tcp->lock);
}

/* Callers hold the lock. */
static int send_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
			const struct request *request, const struct local_memory *local)
{
	unsigned char start[WIRE_REQUEST_START];
	struct iovec parts[STREAM_PARTS_MAX] = {{start, sizeof(start)}};
	unsigned count = 1;
	int result = grow_pending(tcp);

	if (result != 0)
		return result;
	wire_put_request(start, tcp->asked, atomic_load(&tcp->exchange->begun), gid, qpn, request);
	if (wire_payload(request) > 0) {
		memcpy(parts + 1, local->parts, local->count * sizeof(parts[0]));
		count += local->count;
	}
	tcp->pending[tcp->asked & (tcp->pending_slots - 1)] =
		(struct pending){.ticket = ticket,
				 .gid = request->src_gid,
				 .qpn = request->src_qpn,
				 .bytes = wire_answer_data(request)};
	tcp->asked++;
	atomic_fetch_add(&tcp_unanswered, 1);
	return stream_send(&tcp->stream, parts, count);
}

int tcp_request(struct tcp *tcp, const union ibv_gid *gid, uint32_t qpn, uint64_t ticket,
		const struct request *request, const struct local_memory *local)
{
	int result = 0;

	pthread_mutex_lock(&tcp->lock);
	if (tcp->closed) {
		result = -EPIPE;
	} else if (stream_queued(&tcp->stream) > QUEUED_MAX) {
		tcp->wants_resume = true;
		result = -EAGAIN;
	} else if (send_request(tcp, gid, qpn, ticket, request, local) != 0) {
		/* a part may be out: the connection is of no use, and the agent sees its end */
		shutdown(tcp->stream.fd, SHUT_RDWR);
		result = -EPIPE;
	} else {
		expect(tcp, stream_queued(&tcp->stream) > 0, tcp->left);
	}
	pthread_mutex_unlock(&tcp->lock);
	return result;
}

/* The request that an answer is for; false: there is none, or it cannot be its answer. */
static bool find_pending(struct tcp *tcp, const struct wire_answer *answer, struct pending *pending)
{
	bool fits = false;

	pthread_mutex_lock(&tcp->lock);
	if (tcp->answered != tcp->asked && answer->number == tcp->answered) {
		*pending = tcp->pending[tcp->answered & (tcp->pending_slots - 1)];
		fits = answer->outcome.kind != OUTCOME_DONE ||
		       answer->outcome.status != IBV_WC_SUCCESS || answer->bytes == pending->bytes;
	}
	pthread_mutex_unlock(&tcp->lock);
	return fits;
}

/* Callers hold `receiving`. */
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
		    !find_pending(tcp, &answer, &pending))
			return -EPROTO;
		peer_user->answered(pending.qpn, &pending.gid, pending.ticket, &answer.outcome,
				    body + WIRE_ANSWER_BYTES, answer.bytes);
		tcp->answered++; /* now its effects show: see tcp_has_answers() */
		atomic_fetch_sub(&tcp_unanswered, 1);
		result = 0;
	}
	return result;
}

/* For the agent. */
static int take_answers(struct tcp *tcp)
{
	int result;

	pthread_mutex_lock(&receiving);
	result = tcp->error != 0 ? tcp->error : receive_answers(tcp);
	pthread_mutex_unlock(&receiving);
	return result;
}

bool tcp_has_answers(struct tcp *tcp, uint32_t after)
{
	while ((int32_t)(tcp->answered - after) < 0) {
		const uint32_t before = tcp->answered;

		if (take_answers(tcp) != 0) {
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
		expect(tcp, stream_queued(&tcp->stream) > 0, tcp->left);
		resume = tcp->wants_resume && stream_queued(&tcp->stream) <= QUEUED_MAX / 2;
	}
	if (resume)
		tcp->wants_resume = false;
	pthread_mutex_unlock(&tcp->lock);
	if (resume)
		peer_user->resume(tcp->peer);
	return result;
}

/* --- who receives the answers --- */

static bool is_within(uint64_t then_ns, uint64_t now_ns, int64_t limit_ns)
{
	return (int64_t)(now_ns - then_ns) < limit_ns; /* `then` may be a little later */
}

static bool is_polled(struct tcp *tcp, uint64_t now_ns)
{
	return is_within(tcp->polled_ns, now_ns, POLLED_NS) &&
	       !is_within(armed_ns, now_ns, ARMED_NS);
}

/* Agent only. True: a thread polls, and receives what has come. */
static bool leave_answers(struct tcp *tcp, uint32_t events)
{
	const uint64_t now_ns = process_now_ns();

	if ((events & (EPOLLHUP | EPOLLERR)) != 0 || !is_polled(tcp, now_ns))
		return false;
	expect_answers(tcp, true);
	agent_timer_set(tending, now_ns + LATER_NS);
	if (is_polled(tcp, now_ns))
		return true;
	/* a CQ was armed before this could be seen */
	expect_answers(tcp, false);
	return false;
}

/* The agent looks whether threads still poll, and goes on with requests that waited for answers. */
static void tend(void *unused)
{
	const uint64_t now_ns = process_now_ns();

	(void)unused;
	if (left_count != 0)
		agent_timer_set(tending, now_ns + LATER_NS);
	for (struct tcp *tcp = connections; tcp != NULL; tcp = tcp->next) {
		if (!is_polled(tcp, now_ns))
			expect_answers(tcp, false);
		tcp_serve_resume(tcp->exchange);
	}
}

void tcp_armed(void)
{
	const uint64_t now_ns = connections != NULL ? process_now_ns() : 0;

	if (now_ns == 0)
		return;
	/* in this order, and leave_answers() in the other */
	armed_ns = now_ns;
	if (left_count != 0)
		agent_timer_set(tending, now_ns);
}

/* The next one with requests that are not answered; NULL: those looked at have none. */
static struct tcp *next_unanswered(void)
{
	for (unsigned i = 0; i < LOOKS_MAX && connections != NULL; i++) {
		struct tcp *tcp = turn != NULL ? turn : connections;

		turn = tcp->next;
		if (tcp->error == 0 && tcp->asked != tcp->answered)
			return tcp;
	}
	return NULL;
}

static void look(struct tcp *tcp)
{
	const uint32_t before = tcp->answered;

	tcp->polled_ns = process_now_ns();
	tcp->error = receive_answers(tcp);
	if (tcp->error != 0)
		shutdown(tcp->stream.fd, SHUT_RDWR); /* the watch tells the end */
	if (tcp->answered != before && tcp->exchange->waiting != NULL)
		agent_timer_set(tending, tcp->polled_ns);
}

void tcp_poll(void)
{
	struct tcp *tcp;
	int state;

	if (pthread_mutex_trylock(&receiving) != 0)
		return; /* another thread is at it */
	/* recv() is a cancellation point, polling a CQ is none */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	tcp = next_unanswered();
	if (tcp != NULL)
		look(tcp);
	pthread_mutex_unlock(&receiving);
	pthread_setcancelstate(state, NULL);
}

static void tcp_ready(void *arg, uint32_t events)
{
	struct tcp *tcp = arg;
	int result = 0;

	if ((events & EPOLLOUT) != 0)
		result = send_queued(tcp);
	if (result == 0 && (events & ~(uint32_t)EPOLLOUT) != 0 && !leave_answers(tcp, events))
		result = take_answers(tcp);
	if (result != 0)
		peer_lost(tcp->peer);
	else
		tcp_serve_resume(tcp->exchange);
}

/* --- their lives --- */

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
	if (tending == NULL)
		tending = agent_timer_new(tend, NULL);
	if (tcp->exchange != NULL && tending != NULL)
		tcp->watch = agent_watch(stream->fd, tcp->writing ? EPOLLIN | EPOLLOUT : EPOLLIN,
					 tcp_ready, tcp);
	if (tcp->exchange == NULL || tcp->watch == NULL) {
		tcp_free(tcp);
		return NULL;
	}
	tcp->exchange->tcp = tcp;
	stream_open(stream, -1);
	pthread_mutex_lock(&receiving);
	tcp->next = connections;
	connections = tcp;
	pthread_mutex_unlock(&receiving);
	return tcp;
}

/* No poll looks at it from now on. Callers hold `receiving`. */
static void leave_list(struct tcp *tcp)
{
	struct tcp *first = connections;

	if (turn == tcp)
		turn = tcp->next;
	LIST_TAKE_OUT(first, tcp, next);
	connections = first;
}

void tcp_close(struct tcp *tcp)
{
	agent_unwatch(tcp->watch);
	pthread_mutex_lock(&receiving);
	leave_list(tcp);
	pthread_mutex_lock(&tcp->lock);
	tcp->closed = true;
	if (tcp->left)
		left_count--;
	atomic_fetch_sub(&tcp_unanswered, tcp->asked - tcp->answered);
	stream_close(&tcp->stream);
	pthread_mutex_unlock(&tcp->lock);
	pthread_mutex_unlock(&receiving);
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

/* The child gets no answers to requests of its parent. */
static void forked(void)
{
	connections = NULL;
	turn = NULL;
	tending = NULL;
	left_count = 0;
	tcp_unanswered = 0;
}

const struct process_part tcp_part = {.lock = &receiving, .forked = forked};
