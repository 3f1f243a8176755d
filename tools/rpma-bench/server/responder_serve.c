/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * responder_serve.c -- receives, makes the next receive ready, and then answers.
 *
 * A slot is one receive buffer and its place in the memory of the responder. An
 * answer is sent out of the bytes that were received, so its slot is taken until
 * the answer has left; another, free one is posted instead, before the answer
 * goes out. A client that keeps to its depth thus always finds a receive. Where
 * no slot is free the answer is held back until one is. The number of a slot is
 * the context of its receive and of its answer. With a shared receive queue any
 * queue pair may use any slot; the queue a completion came from identifies its queue pair.
 */
#include "responder_private.h"

#define ANSWER	    32 /* with GPSPM: where in the slot the answer is made */
#define BATCH	    16
#define EMPTY_POLLS 1024

/* --- the way of a slot ---------------------------------------------------- */

uint64_t responder_offset(const struct responder *r, uint32_t slot)
{
	return params_answered(r->params) ? slot * r->slot_bytes : 0;
}

int responder_post(struct end *e, uint32_t slot)
{
	struct responder *r = e->responder;
	const void *context = (const void *)(uintptr_t)slot;

	if (r->srq != NULL)
		return rpma_srq_recv(r->srq, r->mr, responder_offset(r, slot), r->receive_bytes,
				     context);
	return rpma_recv(e->conn, r->mr, responder_offset(r, slot), r->receive_bytes, context);
}

int responder_echo(struct end *e, uint32_t slot, uint32_t bytes)
{
	return rpma_send(e->conn, e->responder->mr, responder_offset(e->responder, slot), bytes,
			 RPMA_F_COMPLETION_ALWAYS, (const void *)(uintptr_t)slot);
}

int responder_persist(struct end *e, uint32_t slot, uint32_t bytes)
{
	struct responder *r = e->responder;
	unsigned char *at = r->memory + responder_offset(r, slot);
	struct persist_request request;
	struct persist_answer answer = {.status = PERSIST_OUTSIDE};

	if (persist_decode_request(at, bytes, &request) == 0) {
		answer.slot = request.slot;
		answer.status = persist_range(r->persist, request.offset, request.length);
	}
	persist_encode_answer(&answer, at + ANSWER);
	return rpma_send(e->conn, r->mr, responder_offset(r, slot) + ANSWER, PERSIST_ANSWER_BYTES,
			 RPMA_F_COMPLETION_ALWAYS, (const void *)(uintptr_t)slot);
}

/*
 * A queue pair that fails is left alone: the control connection tells what became of
 * its client.
 */
static void post_and_answer(struct end *e, uint32_t free_slot, uint32_t slot, uint32_t bytes)
{
	if (e->conn != NULL &&
	    (responder_post(e, free_slot) != 0 || e->responder->answer(e, slot, bytes) != 0))
		e->conn = NULL;
}

static void received(struct end *e, uint32_t slot, uint32_t bytes)
{
	const struct slot_message message = {e, slot, bytes};
	uint32_t free_slot;

	e->responder->requests++;
	if (e->responder->answer == NULL) {
		if (responder_post(e, slot) != 0)
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

void *responder_serve(void *arg)
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
