/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_flight.c -- regions that are deregistered while requests use them, for `rpma-soft
 * --check`: the deregistration is the mistake, and what it leads to is not reported as another.
 */
#include "soft_device/check/objects.h"
#include "sq_check.h"
#include "sq_watch.h"

static void tell_in_flight(const struct send_queue *sq, const struct send_work *work,
			   uint32_t number, uint32_t key)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;
	struct object region;

	check_find(&finding, CHECK_DEREG_IN_FLIGHT, stack,
		   "the region of lkey %#x is deregistered, and a request of QP %#x that was "
		   "posted uses it",
		   key | CHECK_LKEY, sq->qpn);
	check_line(&finding, "request", "wr_id %#llx, %llu bytes", (unsigned long long)work->wr_id,
		   (unsigned long long)sq_length(work));
	check_place(&finding, "posted at", sq_check_stack(sq, number));
	check_place(&finding, "deregistered at", stack);
	if (objects_find(OBJECT_MR, key, &region))
		check_place(&finding, "registered at", region.made_at);
	check_report(&finding);
}

/* The first piece with this key, from 1 on; 0: none has it. */
static uint8_t piece_of(const struct send_work *work, uint32_t key)
{
	if (work->flags & IBV_SEND_INLINE)
		return 0;
	for (uint32_t i = 0; i < work->num_sge; i++)
		if (work->sge[i].length > 0 && work->sge[i].lkey == key)
			return (uint8_t)(i + 1);
	return 0;
}

/* Remembers it: sq_check_is_lost(). */
static void lose_piece(struct send_queue *sq, uint32_t number, uint8_t piece)
{
	struct sq_post *post = sq_post_at(sq, number);

	if (post != NULL && (post->lost_piece == 0 || piece < post->lost_piece))
		post->lost_piece = piece;
}

bool sq_check_uses(struct send_queue *sq, uint32_t key)
{
	bool uses = false;

	shared_lock_take(&sq->lock);
	for (uint32_t number = atomic_load(sq->released);
	     number != sq->posted && sq_state(sq) == IBV_QPS_RTS; number++) {
		const struct send_work *work = &sq_slot(sq, number)->work;
		/* a read without a completion: nothing else tells that the bytes have come */
		const bool is_under_way = (int32_t)(number - sq->completed) >= 0 ||
					  sq_opcodes[work->opcode].local_access != 0;
		const uint8_t piece = is_under_way ? piece_of(work, key) : 0;

		if (piece == 0)
			continue;
		if (!uses)
			tell_in_flight(sq, work, number, key);
		uses = true;
		lose_piece(sq, number, piece);
	}
	shared_lock_release(&sq->lock);
	return uses;
}

bool sq_check_is_lost(const struct send_queue *sq, const struct send_work *work,
		      const struct ibv_sge *piece)
{
	const struct sq_post *post = sq_post_at(sq, sq->completed);

	return post != NULL && post->lost_piece != 0 && piece == &work->sge[post->lost_piece - 1] &&
	       check_wants(CHECK_DEREG_IN_FLIGHT);
}
