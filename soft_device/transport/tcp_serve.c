/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_serve.c -- operations of a process that reached us over TCP: the agent executes
 * them on our own segment, in order, and answers each. Answers without data leave together, when
 * nothing that has come is left to be executed.
 *
 * The payload of a large write is received where it belongs, piece by piece: each piece is a
 * request of its own for what is left, checked as any, so that a region or QP that goes meanwhile
 * is not written to. What cannot be stored is dropped, and the answer tells why.
 *
 * While many answers wait for the socket, nothing more is read: the peer has to wait, not this
 * process.
 *
 * With the adversary a write is stored in parts, which have its lines in any order, and those who
 * look at the memory meanwhile have some time for it.
 */
#include <byteswap.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "admission.h"
#include "names/random.h"
#include "peer_private.h"
#include "pieces.h"
#include "soft_device/check/objects.h"
#include "soft_device/process/process.h"
#include "stream.h"

#define QUEUED_MAX   (256 * 1024)      /* bytes of answers; above no request is read */
#define KEPT_BYTES   (1024 * 1024)     /* kept for answers */
#define AGAIN_NS     UINT64_C(1000000) /* before a request that waits for a link is looked at */
#define SERVICES_MAX 4096	       /* processes that reach us over TCP */
#define LARGE_BYTES  (32 * 1024)       /* a payload whose copy costs more than another call */
#define TURN_BYTES   (256 * 1024)      /* stored before the answers leave, and others have a turn */
/* with the adversary: how many parts a write has, and how long it may be for that */
#define PARTS_MOST   4u
#define PARTED_BYTES 0x100000u
/* between two parts, or up to so many times as long */
#define PAUSE_NS 20000u
#define PAUSES	 4u

enum stage {
	STAGE_NONE, /* no request has begun to come */
	STAGE_HELD, /* it waits: for answers that come to us first, or for its QP to be linked */
	STAGE_TURN, /* it is executed when its payload has come, or as it comes */
};

struct service {
	struct stream stream;
	struct watch *watch;
	uint32_t events;
	struct peer_key key;
	struct exchange *exchange;
	enum stage stage;	/* how far `request` is */
	uint64_t held_until_ns; /* 0: not for a link */
	struct timer *again;
	struct wire_request request;
	bool is_piecemeal;	/* its payload is stored as it comes */
	uint32_t left;		/* bytes of that to come */
	uint32_t taken;		/* bytes received so in this turn */
	int error;		/* the connection ends with it */
	struct outcome outcome; /* so far */
	bool was_large; /* the last request: of the next one the beginning is received alone */
	unsigned char *answer; /* a whole one; a read's data go there */
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

static struct outcome execute_request(const struct service *service, const struct request *request,
				      const struct local_memory *local)
{
	const struct wire_request *wire = &service->request;
	struct outcome outcome = outcome_absent(VENDOR_NONE);
	bool known = false;

	if (speaks_for_itself(service))
		outcome = peer_user->execute(process_current->served, service->key.identity,
					     &wire->gid, wire->qpn, request, local, &known);
	if (!known)
		admission_refuse(REFUSED_REQUEST, &request->src_gid);
	return outcome;
}

static bool has_succeeded(const struct outcome *outcome)
{
	return outcome->kind == OUTCOME_DONE && outcome->status == IBV_WC_SUCCESS;
}

/* Used with checks: finds the region of the refused key, or of the one that was meant. */
static __attribute__((cold)) bool find_region(uint32_t rkey, struct wire_region *region)
{
	struct object object;

	if (!objects_find(OBJECT_MR, rkey, &object) &&
	    !objects_find(OBJECT_MR, check_lkey_taken(rkey), &object) &&
	    !objects_find(OBJECT_MR, bswap_32(rkey), &object))
		return false;
	*region = (struct wire_region){
		.key = object.number,
		.pid = (uint32_t)getpid(),
		.pd = object.pd,
		.access = object.access,
		.is_gone = object.is_gone,
		.addr = object.addr,
		.length = object.length,
	};
	check_place_text(object.made_at, region->made_at, sizeof(region->made_at));
	if (object.is_gone)
		check_place_text(object.gone_at, region->gone_at, sizeof(region->gone_at));
	return true;
}

/* A read's data are in service->answer. */
static int put_answer(struct service *service)
{
	struct wire_answer answer = {.number = service->request.number,
				     .outcome = service->outcome};
	struct wire_region region;
	struct iovec part;

	if (has_succeeded(&answer.outcome))
		answer.bytes = wire_answer_data(&service->request.request);
	else if (check_any && answer.outcome.kind == OUTCOME_DONE &&
		 answer.outcome.status == IBV_WC_REM_ACCESS_ERR &&
		 find_region(service->request.request.rkey, &region))
		answer.bytes = WIRE_REGION_BYTES;
	if (answer_room(service, WIRE_ANSWER_START + answer.bytes) != 0)
		return -ENOMEM;
	wire_put_answer(service->answer, &answer);
	if (!has_succeeded(&answer.outcome) && answer.bytes > 0)
		wire_put_region(service->answer + WIRE_ANSWER_START, &region);
	part = (struct iovec){service->answer, WIRE_ANSWER_START + answer.bytes};
	return answer.bytes == 0 ? stream_queue(&service->stream, &part, 1)
				 : stream_send(&service->stream, &part, 1);
}

/* --- with the adversary --- */

static bool comes_in_parts(const struct request *request)
{
	const struct soft_options *options = &process_current->options;

	return options->adversary && (options->adversary_kinds & SOFT_ADVERSARY_PARTS) != 0 &&
	       (request->op == REQUEST_WRITE || request->op == REQUEST_WRITE_IMM) &&
	       request->length > TARGET_MEMORY_LINE && request->length <= PARTED_BYTES &&
	       process_current->segment->powerfail == 0;
}

/* A receive is taken with the last part. */
static struct outcome execute_parts(const struct service *service, const struct request *request,
				    const struct local_memory *local)
{
	const uint64_t chosen =
		random_mix(process_current->options.adversary_seed + service->request.number);
	const struct timespec pause = {.tv_nsec = PAUSE_NS * (1 + (long)(chosen >> 32) % PAUSES)};
	struct pieces pieces = {.local = local,
				.process = TARGET_OF_DEVICE,
				.key = chosen,
				.groups = 1 + (unsigned)(chosen % PARTS_MOST)};
	const struct local_memory part_memory = {.receive = pieces_move, .receive_arg = &pieces};
	struct request part = *request;
	struct outcome outcome;

	part.op = REQUEST_WRITE;
	for (; pieces.last + 1 < pieces.groups; pieces.first = ++pieces.last) {
		outcome = execute_request(service, &part, &part_memory);
		if (!has_succeeded(&outcome))
			return outcome;
		nanosleep(&pause, NULL);
	}
	return execute_request(service, request, &part_memory);
}

/* --- requests whose payload is received before they are executed --- */

/* 1: it was executed; 0: more has to come; or -errno. */
static int execute_whole(struct service *service)
{
	const struct request *request = &service->request.request;
	const uint32_t payload = wire_payload(request), data = wire_answer_data(request);
	struct local_memory local;
	const unsigned char *bytes;
	int result = stream_take(&service->stream, payload, &bytes);

	if (result != 1)
		return result;
	if (answer_room(service, WIRE_ANSWER_START + data) != 0)
		return -ENOMEM;
	local.parts[0].iov_base =
		data > 0 ? service->answer + WIRE_ANSWER_START : (unsigned char *)bytes;
	local.parts[0].iov_len = data + payload;
	local.count = data + payload > 0 ? 1 : 0;
	local.receive = NULL;
	service->outcome = comes_in_parts(request) ? execute_parts(service, request, &local)
						   : execute_request(service, request, &local);
	return 1;
}

/* --- large writes --- */

/* The journal of a power failure takes a write as a whole. */
static bool may_come_in_pieces(const struct request *request)
{
	return request->op == REQUEST_WRITE && request->length >= LARGE_BYTES &&
	       process_current->segment->powerfail == 0 && !comes_in_parts(request);
}

/* See struct local_memory; `length` is all that is left. The last cache line is a part of its own,
 * see target_memory.h. */
static int receive_into(void *arg, uint64_t memory, uint64_t length)
{
	struct service *service = arg;
	const size_t at_hand = stream_at_hand(&service->stream);
	const size_t line = (memory + length - 1) % TARGET_MEMORY_LINE + 1;
	const size_t tail = line < length ? line : length;
	struct iovec parts[] = {{(void *)(uintptr_t)memory, length - tail},
				{(void *)(uintptr_t)(memory + (length - tail)), tail}};
	struct iovec part = {NULL, at_hand < length ? at_hand : length};
	const unsigned char *bytes;
	size_t stored;

	if (at_hand > 0) {
		stream_take(&service->stream, part.iov_len, &bytes);
		part.iov_base = (unsigned char *)bytes;
		service->left -= (uint32_t)part.iov_len;
		return target_memory_write_ordered(TARGET_OF_DEVICE, &part, 1, memory,
						   part.iov_len);
	}
	if (service->taken >= TURN_BYTES)
		return 0;
	service->error =
		stream_receive_into(&service->stream, parts, 2, WIRE_REQUEST_START, &stored);
	service->left -= (uint32_t)stored;
	service->taken += (uint32_t)stored;
	if (service->error != -EFAULT)
		return 0;
	service->error = 0;
	return -EFAULT;
}

static struct outcome execute_rest(struct service *service)
{
	struct request rest = service->request.request;
	struct local_memory local;

	rest.remote_addr += rest.length - service->left;
	rest.length = service->left;
	local.count = 0;
	local.receive = receive_into;
	local.receive_arg = service;
	return execute_request(service, &rest, &local);
}

static void drop_at_hand(struct service *service)
{
	const size_t at_hand = stream_at_hand(&service->stream);
	const uint32_t dropped = at_hand < service->left ? (uint32_t)at_hand : service->left;
	const unsigned char *bytes;

	stream_take(&service->stream, dropped, &bytes);
	service->left -= dropped;
}

/* Like execute_whole(). */
static int execute_in_pieces(struct service *service)
{
	while (service->left > 0) {
		const uint32_t before = service->left;
		const bool goes_on = has_succeeded(&service->outcome);

		if (goes_on)
			service->outcome = execute_rest(service);
		else
			drop_at_hand(service);
		if (service->error != 0)
			return service->error;
		if (service->left == before && goes_on == has_succeeded(&service->outcome))
			return 0;
	}
	return 1;
}

/* Nothing is to be received before it: the rest is stored as it comes. */
static bool is_receiving_payload(const struct service *service)
{
	return service->stage == STAGE_TURN && service->is_piecemeal &&
	       has_succeeded(&service->outcome) && stream_at_hand(&service->stream) == 0;
}

/* --- one request after the other --- */

static void trim_answer(struct service *service)
{
	if (service->answer_size <= KEPT_BYTES)
		return;
	free(service->answer);
	service->answer = NULL;
	service->answer_size = 0;
}

/* 1: a request has begun to come; 0: none has; or -errno. */
static int hold_next(struct service *service)
{
	const unsigned char *body;
	struct wire_header header = {0};
	int result;

	if (service->stage != STAGE_NONE)
		return 1;
	result = stream_next_start(&service->stream, WIRE_REQUEST_BYTES, &header, &body);
	if (result != 1)
		return result;
	if (header.kind != WIRE_REQUEST ||
	    wire_get_request(body, header.length, &service->request) != 0)
		return -EPROTO;
	service->stage = STAGE_HELD;
	return 1;
}

/* Our requests that its sender had begun to execute are answered; else it is noted as waiting. */
static bool is_its_turn(struct service *service)
{
	struct exchange *exchange = service->exchange;
	const uint32_t after = service->request.after;

	if (exchange->tcp == NULL || tcp_has_answers(exchange->tcp, after))
		return true;
	exchange->waiting = service;
	/* a thread that polled may have received them before it could see that */
	if (!tcp_has_answers(exchange->tcp, after))
		return false;
	exchange->waiting = NULL;
	return true;
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

/* 1: it is its turn; 0: it waits; or -errno. */
static int begin(struct service *service)
{
	const struct request *request = &service->request.request;

	if (service->stage == STAGE_TURN)
		return 1;
	if (!is_its_turn(service))
		return 0;
	if (waits_for_link(service))
		return 0;
	/* before its effects show: see wire_request.after */
	atomic_fetch_add(&service->exchange->begun, 1);
	service->stage = STAGE_TURN;
	service->is_piecemeal = may_come_in_pieces(request);
	service->was_large = service->is_piecemeal;
	service->left = wire_payload(request);
	service->outcome = outcome_done();
	return 1;
}

/* 1: one was executed; 0: none has come, or it waits; or -errno. */
static int work_once(struct service *service)
{
	int result = hold_next(service);

	if (result == 1)
		result = begin(service);
	if (result == 1)
		result =
			service->is_piecemeal ? execute_in_pieces(service) : execute_whole(service);
	if (result != 1)
		return result;
	service->stage = STAGE_NONE;
	result = put_answer(service);
	return result == 0 ? 1 : result;
}

/* Executes what has come, as long as the answers find room: also what they make when they leave. */
static int work(struct service *service)
{
	int result = 1;

	service->taken = 0;
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
	const uint32_t events =
		(queued <= QUEUED_MAX && service->stage != STAGE_HELD ? EPOLLIN : 0u) |
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

static int receive(struct service *service)
{
	size_t stored;

	if (is_receiving_payload(service))
		return 0;
	if (service->was_large && service->stage == STAGE_NONE &&
	    stream_at_hand(&service->stream) == 0)
		return stream_receive_into(&service->stream, NULL, 0, WIRE_REQUEST_START, &stored);
	return stream_receive(&service->stream);
}

static void service_ready(void *arg, uint32_t events)
{
	struct service *service = arg;
	int result = stream_flush(&service->stream);

	/* nothing is read that would show it */
	if (service->stage == STAGE_HELD && (events & (EPOLLHUP | EPOLLERR)) != 0)
		result = -EPIPE;
	if (result == 0 && (events & ~(uint32_t)EPOLLOUT) != 0 && service->stage != STAGE_HELD &&
	    stream_queued(&service->stream) <= QUEUED_MAX)
		result = receive(service);
	if (result == 0)
		result = work(service);
	if (result == 0)
		result = expect(service);
	if (result != 0)
		service_end(service);
	else if (service->was_large)
		agent_stay_awake(); /* each write of a stream would wake it */
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
		admission_refuse(REFUSED_CROWD, &key->remote);
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
