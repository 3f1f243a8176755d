/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder.c -- makes what a responder needs, starts and stops its thread.
 *
 * For server_repeat.c, which attaches the queue pairs as they come. What the thread then does
 * is in responder_serve.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/thread.h"
#include "responder_private.h"

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
	/* what a write announces is never stored: one place will do for all */
	return params_answered(params) ? slots_of(params) * slot_bytes(params) : LINE;
}

/* --- set up and tear down ------------------------------------------------- */

static int post_of_request(struct rpma_conn_req *req, void *arg)
{
	const struct end *e = arg;
	const struct responder *r = e->responder;

	for (uint32_t i = 0; i < r->receives; i++) {
		uint32_t slot = e->index * r->slots + i;
		int ret = rpma_conn_req_recv(req, r->mr, responder_offset(r, slot),
					     r->receive_bytes, (const void *)(uintptr_t)slot);

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
		ret = responder_post(&r->ends[0], slot);
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

/* Who answers what, and how its messages are awaited. */
static void choose_answer(struct responder *r)
{
	const struct params *p = r->params;

	r->event = p->completion == BENCH_EVENT;
	if (params_gpspm(p)) {
		r->answer = responder_persist;
		r->event = p->persist == BENCH_GPSPM;
	} else if (p->op == BENCH_SEND) {
		r->answer = responder_echo;
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

int responder_attach(struct responder *responder, uint32_t index,
		     const struct connection *connection)
{
	struct end *e = &responder->ends[index];
	int ret;

	e->cq = connection_cq(connection);
	ret = rpma_cq_get_fd(e->cq, &responder->fds[index].fd);
	if (ret)
		return failure_set(EXIT_INTERNAL, "connect", "%s", connection_cause(ret));
	e->conn = connection_conn(connection);
	return 0;
}

int responder_start(struct responder *responder, const struct topology *topology, int cpu)
{
	int ret;

	responder->topology = topology;
	responder->cpu = topology != NULL ? cpu : -1;
	responder->fds[responder->ends_count] = (struct pollfd){responder->wake_fd, POLLIN, 0};
	ret = thread_start(&responder->thread, responder_serve, responder);
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
