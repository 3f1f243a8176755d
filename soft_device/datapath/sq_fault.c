/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_fault.c -- what RPMA_SOFT asks to happen to send work requests; called by sq.c only when
 * there are faults at all. All requests are kept in slots then.
 */
#include <stdlib.h>

#include "responder.h"
#include "soft_device/check/check.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "soft_device/process/trace.h"
#include "sq.h"
#include "sq_adversary.h"
#include "sq_check.h"

static __attribute__((noinline)) void ask_at_post(struct send_queue *sq, struct send_slot *slot)
{
	const struct send_opcode *opcode = &sq_opcodes[slot->work.opcode];
	const struct send_work *work = &slot->work;
	const uint32_t bytes = (uint32_t)sq_length(work);
	const uint64_t now_ns = process_now_ns();
	uint64_t due_ns = sq_is_local(work) ? 0 : fault_due_ns(opcode->kind, bytes, now_ns);

	slot->record = trace_posted(&(struct trace_post){
		.qpn = sq->qpn,
		.bytes = opcode->op == REQUEST_FLUSH ? 0 : bytes,
		.opcode = (uint8_t)work->opcode,
		.signaled = sq->sig_all || (work->flags & IBV_SEND_SIGNALED) != 0,
		.now_ns = now_ns,
		.delay_ns = due_ns == 0 ? 0 : due_ns - now_ns,
	});
	if (due_ns != 0 && due_ns < sq->last_due_ns)
		due_ns = sq->last_due_ns;
	if (due_ns != 0)
		sq->last_due_ns = due_ns;
	slot->due_ns = due_ns;
	if (opcode->takes_receive)
		slot->rnr_faults = fault_rnr();
}

void sq_fault_posted(struct send_queue *sq, struct send_slot *slot)
{
	if (fault_more)
		ask_at_post(sq, slot);
	if (check_any)
		sq_check_posted(sq, slot);
	if (adversary_any)
		sq_adversary_posted(sq);
}

/* The connection breaks: for the target as well, where it can be reached. */
static enum ibv_wc_status broken(struct send_queue *sq)
{
	struct shared_qp *target = sq->peer->segment != NULL ? sq->target : NULL;
	/* before its number is looked at: that is given last */
	const uint16_t generation = target != NULL ? shared_qp_generation(target) : 0;

	if (target != NULL && atomic_load(&target->qpn) == sq->path.qpn)
		responder_fail(sq->peer, target, generation, 0);
	return IBV_WC_RETRY_EXC_ERR;
}

static void ask(struct send_queue *sq, struct send_slot *slot)
{
	const bool drop = fault_drop(sq->operations++);

	slot->asked = true;
	slot->lost = drop && sq->unacknowledged; /* and its sender does not hear of it */
	if (!slot->lost)
		slot->fault =
			drop ? broken(sq) : fault_complete(sq_opcodes[slot->work.opcode].kind);
}

/* False: a fault has decided what becomes of it. */
static bool passes_faults(struct send_queue *sq, struct send_slot *slot)
{
	struct outcome outcome = {.kind = OUTCOME_DONE};

	if (!slot->asked)
		ask(sq, slot);
	if (slot->fault == IBV_WC_SUCCESS && slot->rnr_faults == 0 && !slot->lost)
		return true;
	if (sq->completed != sq->next)
		return false; /* the answers to those before it come first */
	outcome.status = slot->fault;
	outcome.vendor_err = VENDOR_FAULT;
	if (slot->fault == IBV_WC_SUCCESS && !slot->lost) {
		slot->rnr_faults--;
		outcome.kind = OUTCOME_RNR;
		outcome.rnr_timer = 1; /* the shortest */
	}
	sq_settle(sq, slot, &outcome);
	return false;
}

bool sq_fault_passes(struct send_queue *sq, struct send_slot *slot)
{
	if (sq_is_local(&slot->work))
		return true; /* it goes nowhere */
	if (adversary_any && !sq_adversary_passes(sq))
		return false;
	if (check_any && !adversary_any && !sq_check_passes(sq, slot))
		return false;
	return passes_faults(sq, slot);
}

/* The bytes in one piece; NULL: there are none, or no memory. */
static void *gather(const struct local_memory *local, uint32_t length)
{
	struct iovec whole = {NULL, length};

	if (local->count == 0 || (whole.iov_base = malloc(whole.iov_len)) == NULL)
		return NULL;
	target_memory_read(0, &whole, 1, local->parts, local->count);
	return whole.iov_base;
}

void *sq_fault_corrupt_out(struct send_work *work, struct local_memory *local)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	struct request *request = &work->request;
	void *copy = NULL;

	if (!fault_corrupt_wanted() || opcode->local_access != 0)
		return NULL;
	if (opcode->op == REQUEST_ATOMIC_WRITE)
		fault_corrupt(opcode->kind, &request->swap, sizeof(request->swap));
	else
		copy = gather(local, request->length);
	if (copy == NULL)
		return NULL;
	fault_corrupt(opcode->kind, copy, request->length);
	local->parts[0] = (struct iovec){copy, request->length};
	local->count = 1;
	return copy;
}

void sq_fault_corrupt_in(const struct send_work *work, const struct local_memory *local)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	const uint32_t length = work->request.length;
	void *copy = NULL;

	if (!fault_corrupt_wanted() || opcode->local_access == 0)
		return;
	copy = gather(local, length);
	if (copy == NULL)
		return;
	struct iovec whole = {copy, length};

	fault_corrupt(opcode->kind, copy, length);
	target_memory_write(0, &whole, 1, local->parts, local->count);
	free(copy);
}
