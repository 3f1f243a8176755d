/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_serve.c -- operations of a process that reached us over TCP: the agent executes
 * them on our own segment, in order, and answers each.
 *
 * While the answers that the socket does not take are many, nothing more is read: then he has to
 * wait, and not we.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "peer_private.h"
#include "process.h"
#include "stream.h"

#define QUEUED_MAX (256 * 1024)	 /* bytes of answers; above no request is read */
#define KEPT_BYTES (1024 * 1024) /* of the answer's memory */

struct service {
	struct stream stream;
	struct watch *watch;
	uint32_t events;
	uint64_t identity;     /* of the peer */
	unsigned char *answer; /* a whole one; a read's data go there */
	size_t answer_size;
};

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

static int execute(struct service *service, struct wire_request *wire, const unsigned char *payload)
{
	struct request *request = &wire->request;
	struct wire_answer answer = {.number = wire->number};
	struct iovec part;

	if (answer_room(service, WIRE_ANSWER_START + wire_answer_data(request)) != 0)
		return -ENOMEM;
	request->local[0].iov_base = wire_answer_data(request) > 0
					     ? service->answer + WIRE_ANSWER_START
					     : (unsigned char *)payload;
	request->local[0].iov_len = wire_answer_data(request) + wire_payload(request);
	request->local_count = request->local[0].iov_len > 0 ? 1 : 0;
	answer.outcome = responder_execute(process_current->self, &wire->gid, wire->qpn, request);
	if (answer.outcome.kind == OUTCOME_DONE && answer.outcome.status == IBV_WC_SUCCESS)
		answer.bytes = wire_answer_data(request);
	wire_put_answer(service->answer, &answer);
	part = (struct iovec){service->answer, WIRE_ANSWER_START + answer.bytes};
	return stream_send(&service->stream, &part, 1);
}

static void trim_answer(struct service *service)
{
	if (service->answer_size <= KEPT_BYTES)
		return;
	free(service->answer);
	service->answer = NULL;
	service->answer_size = 0;
}

/* Executes what has come, as long as the answers find room. */
static int work(struct service *service)
{
	const unsigned char *body;
	struct wire_header header;
	struct wire_request request;
	int result = 0;

	while (result == 0 && stream_queued(&service->stream) <= QUEUED_MAX) {
		result = stream_next(&service->stream, &header, &body);
		if (result != 1)
			break;
		if (header.kind != WIRE_REQUEST ||
		    wire_get_request(body, header.length, &request) != 0)
			return -EPROTO;
		result = execute(service, &request, body + WIRE_REQUEST_BYTES);
	}
	trim_answer(service);
	return result;
}

static int expect(struct service *service)
{
	const size_t queued = stream_queued(&service->stream);
	const uint32_t events =
		(queued <= QUEUED_MAX ? EPOLLIN : 0u) | (queued > 0 ? EPOLLOUT : 0u);

	if (events == service->events)
		return 0;
	service->events = events;
	return agent_watch_change(service->watch, events);
}

static void service_end(struct service *service)
{
	const uint64_t identity = service->identity;

	agent_unwatch(service->watch);
	stream_close(&service->stream);
	free(service->answer);
	free(service);
	qp_process_gone(identity);
}

static void service_ready(void *arg, uint32_t events)
{
	struct service *service = arg;
	int result = stream_flush(&service->stream);

	if (result == 0 && (events & ~(uint32_t)EPOLLOUT) != 0 &&
	    stream_queued(&service->stream) <= QUEUED_MAX)
		result = stream_receive(&service->stream);
	if (result == 0)
		result = work(service);
	if (result == 0)
		result = expect(service);
	if (result != 0)
		service_end(service);
}

void tcp_serve(struct stream *stream, uint64_t identity)
{
	struct service *service = calloc(1, sizeof(*service));

	if (service == NULL) {
		stream_close(stream);
		qp_process_gone(identity);
		return;
	}
	service->stream = *stream;
	service->identity = identity;
	service->events = EPOLLIN;
	service->watch = agent_watch(stream->fd, EPOLLIN, service_ready, service);
	/* requests may have come together with the carry */
	if (service->watch == NULL || work(service) != 0 || expect(service) != 0)
		service_end(service);
}
