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

#include "soft_device/check/check.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "soft_device/transport/tcp.h"
#include "soft_device/transport/wire.h"
#include "sq.h"
#include "sq_region.h"
#include "window.h"

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
	struct outcome outcome = outcome_done();
	struct local_memory local;
	enum ibv_wc_status status;
	void *copy = NULL;
	int error;

	if (sq_is_local(&slot->work)) {
		if (sq->next != sq->completed)
			return false; /* the answers before it come first */
		outcome = window_execute(sq, &slot->work);
		return sq_settle(sq, slot, &outcome);
	}
	if (!may_follow(sq, &slot->work))
		return false;
	status = sq_make_request(sq, &slot->work, &local);
	if (status != IBV_WC_SUCCESS)
		outcome = outcome_failed(status, sq_request_reason(sq, &slot->work, status));
	else if (wire_payload(&slot->work.request) > 0 &&
		 !target_memory_is_usable(local.parts, local.count, false))
		outcome = outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
	if (!sq_goes_out(&slot->work, outcome.status)) {
		if (sq->next != sq->completed)
			return false; /* the answers before it come first */
		return sq_settle(sq, slot, &outcome);
	}
	if (__builtin_expect(fault_any, 0))
		copy = sq_fault_corrupt_out(&slot->work, &local);
	error = tcp_request(sq->peer->tcp, &sq->path.gid, sq->path.qpn, ticket_of(sq, sq->next),
			    &slot->work.request, &local);
	free(copy);
	if (error == 0) {
		sq->next++;
		return true;
	}
	if (error != -EAGAIN && sq->unacknowledged)
		sq_lose_all(sq);
	else if (error != -EAGAIN)
		sq_fail(sq, IBV_WC_RETRY_EXC_ERR, VENDOR_PEER_GONE);
	return false;
}

/* Puts what came back where the request wants it: as many bytes as it asked for, see tcp.c. */
static void store(struct send_queue *sq, struct send_work *work, struct outcome *outcome,
		  const void *data, size_t bytes)
{
	struct local_memory local;
	enum ibv_wc_status own = sq_make_request(sq, work, &local);
	struct iovec whole = {(void *)(uintptr_t)data, bytes};

	if (sq_opcodes[work->opcode].kind == SOFT_OP_ATOMIC && sq_goes_out(work, own))
		sq_finish_atomic(sq, work, own, &local, outcome);
	else if (own != IBV_WC_SUCCESS)
		*outcome = outcome_failed(own, sq_request_reason(sq, work, own));
	else if (work->opcode != IBV_WR_RDMA_READ || bytes == 0)
		return;
	else if (target_memory_write(0, &whole, 1, local.parts, local.count) != 0)
		*outcome = outcome_failed(IBV_WC_LOC_PROT_ERR, VENDOR_UNMAPPED);
	else if (__builtin_expect(fault_any, 0))
		sq_fault_corrupt_in(work, &local);
}

void sq_answered(struct send_queue *sq, uint64_t ticket, const struct outcome *outcome,
		 const void *data, size_t bytes)
{
	struct outcome result = *outcome;
	struct send_slot *slot = sq_slot(sq, sq->completed);
	struct wire_region region;

	if (sq->completed == sq->next || ticket != ticket_of(sq, sq->completed))
		return;
	if (result.kind == OUTCOME_DONE && result.status == IBV_WC_SUCCESS) {
		sq->established = true;
		store(sq, &slot->work, &result, data, bytes);
	} else if (check_any && wire_get_region(data, bytes, &region) == 0) {
		sq_region_told(&region);
	}
	sq_settle(sq, slot, &result);
	if (check_any)
		sq_region_told(NULL);
	sq_run_locked(sq);
}
