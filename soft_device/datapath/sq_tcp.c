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
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "soft_device/transport/tcp.h"
#include "soft_device/transport/wire.h"
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

bool sq_tcp_send(struct send_queue *sq, struct send_slot *slot)
{
	struct outcome outcome = {.kind = OUTCOME_DONE};
	struct request request;
	void *copy = NULL;
	int error;

	if (!may_follow(sq, &slot->work))
		return false;
	outcome.status = sq_make_request(sq, &slot->work, &request);
	if (outcome.status == IBV_WC_SUCCESS && wire_payload(&request) > 0 &&
	    !target_memory_is_usable(request.local, request.local_count, false))
		outcome.status = IBV_WC_LOC_PROT_ERR;
	if (!sq_goes_out(&slot->work, outcome.status)) {
		if (sq->next != sq->completed)
			return false; /* the answers before it come first */
		return sq_settle(sq, slot, &outcome);
	}
	if (__builtin_expect(fault_any, 0))
		copy = sq_fault_corrupt_out(&slot->work, &request);
	error = tcp_request(sq->peer->tcp, &sq->path.gid, sq->path.qpn, ticket_of(sq, sq->next),
			    &request);
	free(copy);
	if (error == 0) {
		sq->next++;
		return true;
	}
	if (error != -EAGAIN)
		sq_fail(sq, IBV_WC_RETRY_EXC_ERR);
	return false;
}

/* Puts what came back where the request wants it. */
static enum ibv_wc_status place(struct send_queue *sq, const struct send_work *work,
				const struct outcome *outcome, const void *data, size_t bytes)
{
	struct request request;
	enum ibv_wc_status status = sq_make_request(sq, work, &request);
	struct iovec whole = {(void *)(uintptr_t)data, bytes};

	if (status != IBV_WC_SUCCESS)
		return status;
	if (request.op == REQUEST_COMPARE_SWAP || request.op == REQUEST_FETCH_ADD)
		return sq_place_before(&request, outcome->before);
	if (request.op != REQUEST_READ || bytes == 0)
		return IBV_WC_SUCCESS;
	if (bytes != request.length)
		return IBV_WC_BAD_RESP_ERR;
	if (target_memory_write(0, &whole, 1, request.local, request.local_count) != 0)
		return IBV_WC_LOC_PROT_ERR;
	if (__builtin_expect(fault_any, 0))
		sq_fault_corrupt_in(work, &request);
	return IBV_WC_SUCCESS;
}

void sq_answered(struct send_queue *sq, uint64_t ticket, const struct outcome *outcome,
		 const void *data, size_t bytes)
{
	struct outcome result = *outcome;
	struct send_slot *slot = sq_slot(sq, sq->completed);

	if (sq->completed == sq->next || ticket != ticket_of(sq, sq->completed))
		return;
	if (result.kind == OUTCOME_DONE && result.status == IBV_WC_SUCCESS) {
		sq->established = true;
		result.status = place(sq, &slot->work, outcome, data, bytes);
	}
	sq_settle(sq, slot, &result);
	sq_run_locked(sq);
}
