/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_tcp.c -- send queues whose target is reached over TCP: requests go out one after
 * the other, answers come back in that order.
 *
 * A request that may find the receiver not ready is the last one in flight, so that nothing
 * behind it is executed before its next try; so is each one until the first success has shown that
 * the target is there.
 */
#include <errno.h>
#include <stdlib.h>

#include "soft_device/faults/fault.h"
#include "soft_device/process/memory.h"
#include "soft_device/process/process.h"
#include "soft_device/transport/tcp.h"
#include "soft_device/verbs/qp.h"
#include "sq.h"

/* Answers to a queue that was reset meanwhile are told by `life`. */
static uint64_t ticket_of(const struct send_queue *sq, uint32_t number)
{
	return (uint64_t)sq->life << 32 | number;
}

/* A fenced request may send what a read before it brings, so it waits for all of them. */
static bool may_follow(const struct send_queue *sq, const struct send_work *work)
{
	if (sq->next == sq->completed)
		return true;
	return sq->established && !(work->flags & IBV_SEND_FENCE) &&
	       !sq_opcodes[sq_slot(sq, sq->next - 1)->work.opcode].takes_receive;
}

bool sq_tcp_send(struct qp *qp, struct send_slot *slot)
{
	struct send_queue *sq = &qp->sq;
	struct outcome outcome = {.kind = OUTCOME_DONE};
	struct request request;
	void *copy = NULL;
	int error;

	if (!may_follow(sq, &slot->work))
		return false;
	outcome.status = sq_make_request(qp, &slot->work, &request);
	if (outcome.status != IBV_WC_SUCCESS) {
		if (sq->next != sq->completed)
			return false; /* the answers before it come first */
		return sq_settle(qp, slot, &outcome);
	}
	if (__builtin_expect(fault_any, 0))
		copy = sq_fault_corrupt_out(&slot->work, &request);
	error = tcp_request(qp->peer->tcp, &qp->attr.ah_attr.grh.dgid, qp->attr.dest_qp_num,
			    ticket_of(sq, sq->next), &request);
	free(copy);
	if (error == 0) {
		sq->next++;
		return true;
	}
	if (error != -EAGAIN)
		sq_fail(qp, IBV_WC_RETRY_EXC_ERR);
	return false;
}

/* Puts what came back where the request wants it. */
static enum ibv_wc_status place(struct qp *qp, const struct send_work *work,
				const struct outcome *outcome, const void *data, size_t bytes)
{
	struct request request;
	enum ibv_wc_status status = sq_make_request(qp, work, &request);
	struct iovec whole = {(void *)(uintptr_t)data, bytes};

	if (status != IBV_WC_SUCCESS)
		return status;
	if (request.op == REQUEST_COMPARE_SWAP || request.op == REQUEST_FETCH_ADD)
		sq_place_before(&request, outcome->before);
	if (request.op != REQUEST_READ || bytes == 0)
		return IBV_WC_SUCCESS;
	if (bytes != request.length)
		return IBV_WC_BAD_RESP_ERR;
	memory_write(0, &whole, 1, request.local, request.local_count);
	if (__builtin_expect(fault_any, 0))
		sq_fault_corrupt_in(work, &request);
	return IBV_WC_SUCCESS;
}

static void answered(struct qp *qp, uint64_t ticket, const struct outcome *outcome,
		     const void *data, size_t bytes)
{
	struct send_queue *sq = &qp->sq;
	struct outcome result = *outcome;
	struct send_slot *slot = sq_slot(sq, sq->completed);

	if (sq->completed == sq->next || ticket != ticket_of(sq, sq->completed))
		return;
	if (result.kind == OUTCOME_DONE && result.status == IBV_WC_SUCCESS) {
		sq->established = true;
		result.status = place(qp, &slot->work, outcome, data, bytes);
	}
	sq_settle(qp, slot, &result);
	sq_run_locked(qp);
}

void sq_answered(uint32_t own_qpn, const union ibv_gid *own_gid, uint64_t ticket,
		 const struct outcome *outcome, const void *data, size_t bytes)
{
	struct qp *qp;

	pthread_mutex_lock(&process_objects);
	qp = qp_find(own_gid, own_qpn);
	if (qp != NULL) {
		shared_lock_take(&qp->sq.lock);
		answered(qp, ticket, outcome, data, bytes);
		if (qp->sq.drain_notify && qp->sq.completed == qp->sq.next)
			qp_tell_drained(qp);
		shared_lock_release(&qp->sq.lock);
	}
	pthread_mutex_unlock(&process_objects);
}

void sq_resume(const struct peer *peer)
{
	qp_each_of_peer(peer, sq_run_locked);
}
