/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_writes.c -- small writes of a queue that are due together: moved by one system call.
 *
 * Most of what a small write costs is the call, and a queue has many of them at once in a list, or
 * behind a delay or a request that had to wait. As execute_at_once() in sq.c it knows no errors: it
 * stops at anything unusual, and the way of single requests finds out what to do.
 */
#include "mr_check.h"
#include "responder.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/process.h"
#include "soft_device/process/target_memory.h"
#include "sq.h"

static bool is_small_write(const struct send_slot *slot, uint64_t now_ns)
{
	const struct send_work *work = &slot->work;

	return work->opcode == IBV_WR_RDMA_WRITE && work->num_sge == 1 && work->sge->length > 0 &&
	       work->sge->length <= SQ_SMALL_BYTES && slot->due_ns <= now_ns;
}

/* Its two ranges, if the keys are good; the target's lock is held. */
static bool find_ranges(const struct send_queue *sq, const struct send_work *work,
			struct target_write *write)
{
	const struct ibv_sge *sge = work->sge;
	uint64_t from = sge->addr;

	if (!(work->flags & IBV_SEND_INLINE) &&
	    mr_check(process_current->segment, sge->lkey, sq->pd, sge->addr, sge->length, 0,
		     &from) == NULL)
		return false;
	write->from = (void *)(uintptr_t)from;
	write->bytes = sge->length;
	return mr_check(sq->peer->segment, work->request.rkey, sq->target->pd,
			work->request.remote_addr, sge->length, IBV_ACCESS_REMOTE_WRITE,
			&write->to) != NULL;
}

static unsigned find_writes(const struct send_queue *sq, struct target_write *writes)
{
	const uint64_t now_ns = process_now_ns();
	const uint32_t waiting = sq->posted - sq->next;
	unsigned count = 0;

	while (count < waiting && count < TARGET_WRITES_MAX) {
		const struct send_slot *slot = sq_slot(sq, sq->next + count);

		if (!is_small_write(slot, now_ns) || !find_ranges(sq, &slot->work, &writes[count]))
			break;
		count++;
	}
	return count;
}

unsigned sq_move_writes(struct send_queue *sq)
{
	struct target_write writes[TARGET_WRITES_MAX];
	struct shared_qp *target = sq->target;
	unsigned count = 0;

	if (target == NULL || sq->peer->segment->powerfail != 0 ||
	    (fault_any && !fault_only_delays()) || !shared_lock_take_soon(&target->lock))
		return 0;
	if (responder_knows(target, sq->path.qpn, sq->qpn, &sq->gid) &&
	    shared_qp_state(target, memory_order_relaxed) == IBV_QPS_RTS &&
	    (target->access & IBV_ACCESS_REMOTE_WRITE))
		count = find_writes(sq, writes);
	if (count > 1)
		count = target_memory_write_each(sq->peer->memory, writes, count);
	else
		count = 0;
	shared_lock_release(&target->lock);
	return count;
}
