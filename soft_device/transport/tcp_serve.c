/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_serve.c -- operations of a process that reached us over TCP: the agent executes
 * them on our own segment, in order, and answers each. Answers without data leave together, when
 * nothing that has come is left to be executed.
 *
 * While many answers wait for the socket, nothing more is read: the peer has to wait, not this
 * process.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "door.h"
#include "peer_private.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define QUEUED_MAX   (256 * 1024)      /* bytes of answers; above no request is read */
#define KEPT_BYTES   (1024 * 1024)     /* kept for answers */
#define AGAIN_NS     UINT64_C(1000000) /* before a request that waits for a link is looked at */
#define SERVICES_MAX 4096	       /* processes that reach us over TCP */

struct service {
	struct stream stream;
	struct watch *watch;
	uint32_t events;
	struct peer_key key;
	struct exchange *exchange;
	/* `request` waits: for answers that come to us first, or for its QP to be linked */
	bool held;
	uint64_t held_until_ns; /* 0: not for a link */
	struct timer *again;
	struct wire_request request;
	const unsigned char *payload; /* in the stream */
	unsigned char *answer;	      /* a whole one; a read's data go there */
	size_t answer_size;
};

static unsigned services; /* the agent's */

static int answer_room(struct service *service, size_t bytes)
{
	unsigned char *larger;

	if (bytes <= service->answer_size)
		return 0;
	larger = realloc(service->answer, bytes);
	if (larger == NULL)
		return -ENOMEM;
	service->answer = larger;
	service->answer_size = bytes;
	return 0;
}

/* Between hosts a process speaks for its own address only, and to the one it connected to. */
static bool speaks_for_itself(const struct service *service)
{
	static const union ibv_gid none;
	const struct peer_key *key = &service->key;
	const struct wire_request *wire = &service->request;

	return memcmp(&key->remote, &none, sizeof(none)) == 0 ||
	       (memcmp(&key->remote, &wire->request.src_gid, sizeof(none)) == 0 &&
		memcmp(&key->own, &wire->gid, sizeof(none)) == 0);
}

static struct outcome execute_request(struct service *service)
{
	const struct wire_request *wire = &service->request;
	struct outcome outcome = {.kind = OUTCOME_ABSENT};
	bool known = false;

	if (speaks_for_itself(service))
		outcome = peer_user->execute(process_current->served, service->key.identity,
					     &wire->gid, wire->qpn, &wire->request, &known);
	if (!known)
		door_stranger(STRANGER_REQUEST, &wire->request.src_gid);
	return outcome;
}

static int execute(struct service *service)
{
	struct wire_request *wire = &service->request;
	struct request *request = &wire->request;
	struct wire_answer answer = {.number = wire->number};
	struct iovec part;

	if (answer_room(service, WIRE_ANSWER_START + wire_answer_data(request)) != 0)
		return -ENOMEM;
	request->local[0].iov_base = wire_answer_data(request) > 0
					     ? service->answer + WIRE_ANSWER_START
					     : (unsigned char *)service->payload;
	request->local[0].iov_len = wire_answer_data(request) + wire_payload(request);
	request->local_count = request->local[0].iov_len > 0 ? 1 : 0;
	/* before its effects show: see wire_request.after */
	atomic_fetch_add(&service->exchange->begun, 1);
	answer.outcome = execute_request(service);
	if (answer.outcome.kind == OUTCOME_DONE && answer.outcome.status == IBV_WC_SUCCESS)
		answer.bytes = wire_answer_data(request);
	wire_put_answer(service->answer, &answer);
	part = (struct iovec){service->answer, WIRE_ANSWER_START + answer.bytes};
	return answer.bytes == 0 ? stream_queue(&service->stream, &part, 1)
				 : stream_send(&service->stream, &part, 1);
}

static void trim_answer(struct service *service)
{
	if (service->answer_size <= KEPT_BYTES)
		return;
	free(service->answer);
	service->answer = NULL;
	service->answer_size = 0;
}

/* 1: a request is held; 0: none has come; or -errno. */
static int hold_next(struct service *service)
{
	const unsigned char *body;
	struct wire_header header = {0};
	int result;

	if (service->held)
		return 1;
	result = stream_next(&service->stream, &header, &body);
	if (result != 1)
		return result;
	if (header.kind != WIRE_REQUEST ||
	    wire_get_request(body, header.length, &service->request) != 0)
		return -EPROTO;
	service->payload = body + WIRE_REQUEST_BYTES;
	service->held = true;
	return 1;
}

/* Our requests that its sender had begun to execute are answered. */
static bool is_its_turn(const struct service *service)
{
	struct tcp *tcp = service->exchange->tcp;

	return tcp == NULL || tcp_has_answers(tcp, service->request.after);
}

/*
 * The two ends of a QP are linked one after the other, so the first request may come early. True:
 * it waits, for as long as linking may take.
 */
static bool waits_for_link(struct service *service)
{
	const struct wire_request *wire = &service->request;
	const uint64_t now_ns = process_now_ns();

	if (!peer_user->linking(process_current->self, &wire->gid, wire->qpn)) {
		service->held_until_ns = 0;
		return false;
	}
	if (service->held_until_ns == 0)
		service->held_until_ns = now_ns + LINK_LIMIT_NS;
	if (now_ns >= service->held_until_ns)
		return false;
	agent_timer_set(service->again, now_ns + AGAIN_NS);
	return true;
}

/* 1: one was executed; 0: none has come, or it waits; or -errno. */
static int work_once(struct service *service)
{
	int result = hold_next(service);

	if (result != 1)
		return result;
	if (!is_its_turn(service)) {
		service->exchange->waiting = service;
		return 0;
	}
	if (waits_for_link(service))
		return 0;
	service->held = false;
	result = execute(service);
	return result == 0 ? 1 : result;
}

/* Executes what has come, as long as the answers find room: also what they make when they leave. */
static int work(struct service *service)
{
	int result = 1;

	while (result > 0 && stream_queued(&service->stream) <= QUEUED_MAX) {
		while (result > 0 && stream_queued(&service->stream) <= QUEUED_MAX)
			result = work_once(service);
		if (result >= 0 && stream_flush(&service->stream) != 0)
			result = -EPIPE;
	}
	trim_answer(service);
	return result > 0 ? 0 : result;
}

static int expect(struct service *service)
{
	const size_t queued = stream_queued(&service->stream);
	const uint32_t events = (queued <= QUEUED_MAX && !service->held ? EPOLLIN : 0u) |
				(queued > 0 ? EPOLLOUT : 0u);

	if (events == service->events)
		return 0;
	service->events = events;
	return agent_watch_change(service->watch, events);
}

static void service_end(struct service *service)
{
	const struct peer_key key = service->key;

	services--;
	if (service->exchange != NULL && service->exchange->waiting == service)
		service->exchange->waiting = NULL;
	exchange_put(service->exchange);
	agent_unwatch(service->watch);
	agent_timer_delete(service->again);
	stream_close(&service->stream);
	free(service->answer);
	free(service);
	peer_user->process_gone(&key);
}

static void service_ready(void *arg, uint32_t events)
{
	struct service *service = arg;
	int result = stream_flush(&service->stream);

	/* nothing is read that would show it */
	if (service->held && (events & (EPOLLHUP | EPOLLERR)) != 0)
		result = -EPIPE;
	if (result == 0 && (events & ~(uint32_t)EPOLLOUT) != 0 && !service->held &&
	    stream_queued(&service->stream) <= QUEUED_MAX)
		result = stream_receive(&service->stream);
	if (result == 0)
		result = work(service);
	if (result == 0)
		result = expect(service);
	if (result != 0)
		service_end(service);
}

static void go_on(void *arg)
{
	struct service *service = arg;

	if (work(service) != 0 || expect(service) != 0)
		service_end(service);
}

void tcp_serve_resume(struct exchange *exchange)
{
	struct service *service = exchange->waiting;

	exchange->waiting = NULL;
	if (service != NULL)
		go_on(service);
}

int tcp_serve(int fd, const struct peer_key *key)
{
	struct service *service;

	if (services >= SERVICES_MAX) {
		door_stranger(STRANGER_CROWD, &key->remote);
		return -EMFILE;
	}
	service = calloc(1, sizeof(*service));
	if (service == NULL)
		return -ENOMEM;
	service->key = *key;
	service->events = EPOLLIN;
	service->exchange = exchange_get(key);
	service->again = agent_timer_new(go_on, service);
	if (service->exchange != NULL && service->again != NULL)
		service->watch = agent_watch(fd, EPOLLIN, service_ready, service);
	if (service->watch == NULL) {
		agent_timer_delete(service->again);
		exchange_put(service->exchange);
		free(service);
		return -ENOMEM;
	}
	atomic_store(&service->exchange->begun, 0);
	stream_open(&service->stream, fd);
	services++;
	return 0;
}

void tcp_serve_forked(void)
{
	services = 0;
}
