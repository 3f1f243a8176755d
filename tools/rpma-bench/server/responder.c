/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder.c -- receives, makes the next receive ready, and then answers. For
 * server_repeat.c, which attaches the queue pairs as they come.
 *
 * A slot is one receive buffer and its part of the memory of the responder. An
 * answer is sent out of the bytes that were received, so its slot is taken until
 * the answer has left; another, free one is posted instead, before the answer
 * goes out. A client that keeps to its depth thus always finds a receive. Where
 * no slot is free the answer is held back until one is. The number of a slot is
 * the context of its receive and of its answer. With a shared receive queue any
 * queue pair may use any slot; the queue a completion came from identifies its queue pair.
 */
#include "responder.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/thread.h"
#include "slot_pool.h"

#define ANSWER	    32 /* with GPSPM: where in the slot the answer is made */
#define BATCH	    16
#define EMPTY_POLLS 1024

struct end {
	struct responder *responder;
	uint32_t index;
	struct slot_pool *pool; /* its own, or that of the shared queue */
	struct connection_queues queues;
	struct rpma_conn *conn; /* borrowed; NULL: not there, or broken */
	struct rpma_cq *cq;
};

struct responder {
	const struct params *params; /* borrowed */
	const struct persist *persist;
	bool event;	   /* waits for completions rather than looks for them */
	uint32_t slots;	   /* per queue pair */
	uint32_t receives; /* per queue pair, posted at the beginning */
	uint64_t slot_bytes;
	uint64_t receive_bytes;
	unsigned char *memory;
	size_t memory_bytes;
	struct rpma_mr_local *mr;
	struct rpma_srq *srq;
	struct slot_pool *pools; /* one a queue pair; with a shared queue the first alone is used */
	struct end *ends;
	uint32_t ends_count;
	struct pollfd *fds;					       /* the ends', and wake_fd */
	int (*answer)(struct end *end, uint32_t slot, uint32_t bytes); /* NULL: none is sent */
	uint64_t requests;
	int wake_fd;
	atomic_int stop;
	const struct topology *topology; /* borrowed */
	int cpu;
	int bind_error; /* -errno; of the thread until it was stopped */
	bool running;
	pthread_t thread;
};

/* --- the way of a slot ---------------------------------------------------- */

static uint64_t slot_offset(const struct responder *r, uint32_t slot)
{
	return params_answered(r->params) ? slot * r->slot_bytes : 0;
}

static int slot_post(struct end *e, uint32_t slot)
{
	struct responder *r = e->responder;
	const void *context = (const void *)(uintptr_t)slot;

	if (r->srq != NULL)
		return rpma_srq_recv(r->srq, r->mr, slot_offset(r, slot), r->receive_bytes,
				     context);
	return rpma_recv(e->conn, r->mr, slot_offset(r, slot), r->receive_bytes, context);
}

static int echo(struct end *e, uint32_t slot, uint32_t bytes)
{
	return rpma_send(e->conn, e->responder->mr, slot_offset(e->responder, slot), bytes,
			 RPMA_F_COMPLETION_ALWAYS, (const void *)(uintptr_t)slot);
}

static int make_persistent(struct end *e, uint32_t slot, uint32_t bytes)
{
	struct responder *r = e->responder;
	unsigned char *at = r->memory + slot_offset(r, slot);
	struct persist_request request;
	struct persist_answer answer = {.status = PERSIST_OUTSIDE};

	if (persist_decode_request(at, bytes, &request) == 0) {
		answer.slot = request.slot;
		answer.status = persist_range(r->persist, request.offset, request.length);
	}
	persist_encode_answer(&answer, at + ANSWER);
	return rpma_send(e->conn, r->mr, slot_offset(r, slot) + ANSWER, PERSIST_ANSWER_BYTES,
			 RPMA_F_COMPLETION_ALWAYS, (const void *)(uintptr_t)slot);
}

/* A queue pair that fails is left alone: the control connection tells what became of its client. */
static void post_and_answer(struct end *e, uint32_t free_slot, uint32_t slot, uint32_t bytes)
{
	if (e->conn != NULL &&
	    (slot_post(e, free_slot) != 0 || e->responder->answer(e, slot, bytes) != 0))
		e->conn = NULL;
}

static void received(struct end *e, uint32_t slot, uint32_t bytes)
{
	const struct slot_message message = {e, slot, bytes};
	uint32_t free_slot;

	e->responder->requests++;
	if (e->responder->answer == NULL) {
		if (slot_post(e, slot) != 0)
			e->conn = NULL;
	} else if (slot_pool_exchange(e->pool, &message, &free_slot)) {
		post_and_answer(e, free_slot, slot, bytes);
	}
}

static void answered(struct slot_pool *pool, uint32_t slot)
{
	struct slot_message next;

	if (slot_pool_give(pool, slot, &next))
		post_and_answer(next.from, slot, next.slot, next.bytes);
}

static void take(struct end *e, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS)
		e->conn = NULL;
	if (e->conn == NULL)
		return;
	if ((wc->opcode & IBV_WC_RECV) != 0)
		received(e, (uint32_t)wc->wr_id, wc->byte_len);
	else
		answered(e->pool, (uint32_t)wc->wr_id);
}

/* --- the thread ----------------------------------------------------------- */

/* Takes what is there; gives how much that was. */
static int poll_cq(struct responder *r)
{
	struct ibv_wc wc[BATCH];
	int sum = 0;

	for (uint32_t i = 0; i < r->ends_count; i++) {
		struct end *e = &r->ends[i];
		int got = 0;

		if (e->conn == NULL || rpma_cq_get_wc(e->cq, BATCH, wc, &got) != 0)
			continue;
		for (int k = 0; k < got; k++)
			take(e, &wc[k]);
		sum += got;
	}
	return sum;
}

static bool any_alive(const struct responder *r)
{
	for (uint32_t i = 0; i < r->ends_count; i++) {
		if (r->ends[i].conn != NULL)
			return true;
	}
	return false;
}

/* The descriptor of a broken queue pair may stay readable: it is not looked at. */
static void wait(struct responder *r)
{
	for (uint32_t i = 0; i < r->ends_count; i++)
		r->fds[i].events = r->ends[i].conn != NULL ? POLLIN : 0;
	if (poll(r->fds, r->ends_count + 1, -1) <= 0)
		return;
	for (uint32_t i = 0; i < r->ends_count; i++) {
		if (r->fds[i].revents != 0 && rpma_cq_wait(r->ends[i].cq) != 0)
			r->ends[i].conn = NULL;
	}
}

/* Takes what had arrived when the client ended: not more than was in flight. */
static void drain(struct responder *r)
{
	uint64_t most = (uint64_t)r->ends_count * (r->receives + r->slots);
	int got;

	for (uint64_t taken = 0; taken < most && (got = poll_cq(r)) > 0; taken += (uint64_t)got)
		;
}

static void *serve(void *arg)
{
	struct responder *r = arg;
	unsigned empty = 0;

	if (r->cpu >= 0)
		r->bind_error = topology_bind_thread(r->topology, r->cpu);
	while (atomic_load_explicit(&r->stop, memory_order_relaxed) == 0) {
		if (poll_cq(r) > 0) {
			empty = 0;
			continue;
		}
		if (r->event || (++empty % EMPTY_POLLS == 0 && !any_alive(r)))
			wait(r);
	}
	drain(r);
	return NULL;
}

#define LINE 64
#define CONSUME                                                                                    \
	4096 /* receives for all queue pairs: a write is acknowledged before it is consumed */

bool responder_needed(const struct params *params)
{
	return params_received(params);
}

static uint32_t receives_of(const struct params *p)
{
	uint32_t share = CONSUME / p->connections;

	return params_answered(p) || p->depth > share ? p->depth : share;
}

static uint32_t slots_of(const struct params *p)
{
	return params_answered(p) ? 2 * receives_of(p) : receives_of(p);
}

static uint64_t slot_bytes(const struct params *p)
{
	if (p->op != BENCH_SEND)
		return LINE;
	return (p->size_bytes + LINE - 1) / LINE * LINE;
}

uint64_t responder_buffer_bytes(const struct params *params)
{
	/* what a write announces is never stored: one slot will do for all */
	return params_answered(params) ? slots_of(params) * slot_bytes(params) : LINE;
}

/* --- set up and tear down ------------------------------------------------- */

static int post_of_request(struct rpma_conn_req *req, void *arg)
{
	const struct end *e = arg;
	const struct responder *r = e->responder;

	for (uint32_t i = 0; i < r->receives; i++) {
		uint32_t slot = e->index * r->slots + i;
		int ret = rpma_conn_req_recv(req, r->mr, slot_offset(r, slot), r->receive_bytes,
					     (const void *)(uintptr_t)slot);

		if (ret)
			return failure_set(EXIT_RUN_FAILED, "connect", "cannot post a receive: %s",
					   connection_cause(ret));
	}
	return 0;
}

static int make_memory(struct responder *r, struct rpma_peer *peer)
{
	void *memory;
	int ret;

	r->memory_bytes = responder_buffer_bytes(r->params) * r->ends_count;
	memory = mmap(NULL, r->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (memory == MAP_FAILED)
		return failure_set(EXIT_RUN_FAILED, "memory",
				   "cannot map %zu bytes for messages: %s", r->memory_bytes,
				   strerror(errno));
	r->memory = memory;
	ret = rpma_mr_reg(peer, memory, r->memory_bytes, RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV,
			  &r->mr);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "register",
				   "cannot register %zu bytes for messages: %s", r->memory_bytes,
				   connection_cause(ret));
	return 0;
}

static int make_srq(struct responder *r, struct rpma_peer *peer)
{
	struct rpma_srq_cfg *cfg = NULL;
	uint32_t size = r->receives * r->ends_count;
	int ret = rpma_srq_cfg_new(&cfg);

	if (ret == 0 && (ret = rpma_srq_cfg_set_rq_size(cfg, size)) == 0 &&
	    (ret = rpma_srq_cfg_set_rcq_size(cfg, 0)) == 0)
		ret = rpma_srq_new(peer, cfg, &r->srq);
	rpma_srq_cfg_delete(&cfg);
	for (uint32_t slot = 0; ret == 0 && slot < size; slot++)
		ret = slot_post(&r->ends[0], slot);
	if (ret)
		return failure_set(EXIT_RUN_FAILED, "connect",
				   "cannot make a shared receive queue of %u entries: %s", size,
				   connection_cause(ret));
	return 0;
}

static int make_ends(struct responder *r)
{
	uint32_t pools = r->params->srq ? 1 : r->ends_count;
	/* one queue pair may come to use all of a shared queue */
	uint32_t slots = r->slots * r->ends_count / pools;

	r->ends = calloc(r->ends_count, sizeof(*r->ends));
	r->fds = calloc(r->ends_count + 1, sizeof(*r->fds));
	r->pools = calloc(r->ends_count, sizeof(*r->pools));
	if (r->ends == NULL || r->fds == NULL || r->pools == NULL)
		return failure_set(EXIT_INTERNAL, "connect", "out of memory");
	for (uint32_t i = 0; i < pools; i++) {
		if (slot_pool_init(&r->pools[i], i * r->slots, slots,
				   r->receives * r->ends_count / pools) != 0)
			return failure_set(EXIT_INTERNAL, "connect", "out of memory");
	}
	for (uint32_t i = 0; i < r->ends_count; i++) {
		r->ends[i] = (struct end){.responder = r, .index = i};
		r->ends[i].pool = &r->pools[r->params->srq ? 0 : i];
		r->ends[i].queues = (struct connection_queues){
			.sq_size = params_answered(r->params) ? slots : 1,
			.rq_size = r->receives,
			.cq_size = 2 * slots,
			.post = r->params->srq ? NULL : post_of_request,
			.arg = &r->ends[i],
		};
		r->fds[i] = (struct pollfd){-1, POLLIN, 0};
	}
	return 0;
}

/* Chooses who answers, and how messages are awaited. */
static void choose_answer(struct responder *r)
{
	const struct params *p = r->params;

	r->event = p->completion == BENCH_EVENT;
	if (params_gpspm(p)) {
		r->answer = make_persistent;
		r->event = p->persist == BENCH_GPSPM;
	} else if (p->op == BENCH_SEND) {
		r->answer = echo;
	}
}

static int set_up(struct responder *r, struct rpma_peer *peer)
{
	int ret;

	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake_fd < 0)
		return failure_call("connect", errno, "make an eventfd");
	if ((ret = make_ends(r)) || (ret = make_memory(r, peer)))
		return ret;
	if (r->params->srq && (ret = make_srq(r, peer)))
		return ret;
	for (uint32_t i = 0; i < r->ends_count; i++)
		r->ends[i].queues.srq = r->srq;
	return 0;
}

int responder_new(struct responder **responder, struct rpma_peer *peer, const struct params *params,
		  const struct persist *persist)
{
	struct responder *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return failure_set(EXIT_INTERNAL, "connect", "out of memory");
	r->params = params;
	r->persist = persist;
	r->ends_count = params->connections;
	r->slots = slots_of(params);
	r->receives = receives_of(params);
	r->slot_bytes = slot_bytes(params);
	r->receive_bytes = params->op == BENCH_SEND ? params->size_bytes : PERSIST_REQUEST_BYTES;
	choose_answer(r);
	ret = set_up(r, peer);
	if (ret) {
		responder_delete(&r);
		return ret;
	}
	*responder = r;
	return 0;
}

const struct connection_queues *responder_qp(struct responder *responder, uint32_t index)
{
	return &responder->ends[index].queues;
}

void responder_attach(struct responder *responder, uint32_t index,
		      const struct connection *connection)
{
	responder->ends[index].conn = connection_conn(connection);
	responder->ends[index].cq = connection_cq(connection);
	responder->fds[index].fd = connection_cq_fd(connection);
}

int responder_start(struct responder *responder, const struct topology *topology, int cpu)
{
	int ret;

	responder->topology = topology;
	responder->cpu = topology != NULL ? cpu : -1;
	responder->fds[responder->ends_count] = (struct pollfd){responder->wake_fd, POLLIN, 0};
	ret = thread_start(&responder->thread, serve, responder);
	if (ret)
		return failure_call("connect", -ret, "start a thread");
	responder->running = true;
	return 0;
}

uint64_t responder_stop(struct responder *responder)
{
	if (responder->running) {
		atomic_store(&responder->stop, 1);
		eventfd_write(responder->wake_fd, 1);
		pthread_join(responder->thread, NULL);
		responder->running = false;
	}
	return responder->requests;
}

int responder_unbound(const struct responder *responder, int *cpu)
{
	*cpu = responder->cpu;
	return responder->bind_error;
}

void responder_delete(struct responder **responder)
{
	struct responder *r = *responder;

	*responder = NULL;
	if (r == NULL)
		return;
	responder_stop(r);
	rpma_srq_delete(&r->srq);
	rpma_mr_dereg(&r->mr);
	if (r->memory != NULL)
		munmap(r->memory, r->memory_bytes);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	for (uint32_t i = 0; r->pools != NULL && i < r->ends_count; i++)
		slot_pool_clear(&r->pools[i]);
	free(r->pools);
	free(r->fds);
	free(r->ends);
	free(r);
}
