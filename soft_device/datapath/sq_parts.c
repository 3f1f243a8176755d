/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_parts.c -- see sq_parts.h. */
#include "sq_parts.h"

#include "mr_check.h"
#include "receive.h"
#include "responder.h"

/* Locks the target if it takes requests of this queue; NULL: it does not, or is locked now. */
static struct shared_qp *take_target(const struct send_queue *sq)
{
	struct shared_qp *target = segment_qp(sq->peer->segment, &sq->path.gid, sq->path.qpn);

	if (target == NULL || !shared_lock_take_soon(&target->lock))
		return NULL;
	if (responder_knows(target, sq->path.qpn, sq->qpn, &sq->gid) &&
	    shared_qp_state(target, memory_order_relaxed) == IBV_QPS_RTS)
		return target;
	shared_lock_release(&target->lock);
	return NULL;
}

/*
 * A part of a message comes to the receive that the message is going to take, if that is of one
 * part and no other queue pair can take it. All of it comes again when it is taken.
 */
static void move_message(const struct send_queue *sq, const struct request *request,
			 struct pieces *pieces)
{
	struct shared_qp *target = take_target(sq);
	const struct execution x = {sq->peer, target, sq->path.qpn, request, pieces->local};
	const uint64_t length = request->length;
	struct iovec parts[SOFT_MAX_SGE];
	struct received received;
	enum vendor_err why;
	unsigned count;

	if (target == NULL)
		return;
	if (receive_srq(&x) == NULL && receive_next(&x, 0, &received) == RECEIVE_FOUND &&
	    receive_room(&received) >= length &&
	    receive_scatter(&x, &received, length, parts, &count, &why) && count == 1)
		pieces_move(pieces, (uintptr_t)parts[0].iov_base, length);
	shared_lock_release(&target->lock);
}

static bool is_message(enum request_op op)
{
	return op == REQUEST_SEND || op == REQUEST_SEND_IMM || op == REQUEST_SEND_INV;
}

struct outcome sq_parts_execute(struct send_queue *sq, const struct request *request,
				struct local_memory *local, struct pieces *pieces)
{
	struct shared_qp *target = segment_qp(sq->peer->segment, &sq->path.gid, sq->path.qpn);
	struct request part = *request;

	if (target == NULL)
		return outcome_absent(VENDOR_NO_QP);
	if (is_message(request->op) && !sq_parts_is_rest(pieces)) {
		move_message(sq, request, pieces);
		return outcome_done();
	}
	if (pieces->groups > 1 && !is_message(request->op)) {
		local->receive = pieces_move;
		local->receive_arg = pieces;
		if (!sq_parts_is_rest(pieces))
			part.op = REQUEST_WRITE; /* it takes no receive yet */
	}
	return responder_execute_on(sq->peer, target, sq->path.qpn, &part, local);
}

bool sq_parts_read(const struct send_queue *sq, const struct request *request,
		   struct pieces *pieces)
{
	struct shared_qp *target = take_target(sq);
	bool done = false;
	uint64_t from;

	if (target == NULL)
		return false;
	if (mr_check_quick(sq->peer->segment, request->rkey, target->pd, request->remote_addr,
			   request->length, IBV_ACCESS_REMOTE_READ, &from) != NULL)
		done = pieces_move(pieces, from, request->length) == 0;
	shared_lock_release(&target->lock);
	return done;
}
