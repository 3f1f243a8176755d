/* SPDX-License-Identifier: BSD-3-Clause */
/* sq_unacknowledged.c -- send queues of UC and UD QPs, whose targets answer nothing: see sq.h. */
#include "explain.h"

/*
 * Tries at a target without a receive, one in a millisecond but for the first few: as long as a
 * receiver may wait for its turn on a loaded host. A target that let all of them go by is deaf:
 * it is not waited for again before a message got there.
 */
#define TRIES 100

static bool is_own(enum ibv_wc_status status)
{
	return status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_LOC_LEN_ERR ||
	       status == IBV_WC_LOC_QP_OP_ERR || status == IBV_WC_MW_BIND_ERR;
}

static struct outcome lost(struct send_queue *sq, const struct send_slot *slot, unsigned why)
{
	explain_loss(sq, &slot->work, why);
	return outcome_done();
}

struct outcome sq_unacknowledged(struct send_queue *sq, const struct send_slot *slot,
				 const struct outcome *outcome)
{
	const uint32_t qpn = sq->ud != NULL ? slot->work.qpn : sq->path.qpn;

	if (outcome->kind == OUTCOME_DONE) {
		if (outcome->status == IBV_WC_SUCCESS && sq->deaf == qpn)
			sq->deaf = 0;
		/* one that a fault asks for is told */
		if (is_own(outcome->status) || outcome->status == slot->fault)
			return *outcome;
		return lost(sq, slot, outcome->vendor_err);
	}
	if (outcome->kind == OUTCOME_ABSENT)
		return lost(sq, slot, outcome->vendor_err);
	if (sq->deaf != qpn && slot->absent_tries < TRIES)
		return outcome_busy();
	sq->deaf = qpn;
	return lost(sq, slot, VENDOR_NO_RECEIVE);
}

void sq_lose_all(struct send_queue *sq)
{
	const struct outcome absent =
		outcome_absent(sq->unreachable ? VENDOR_UNREACHABLE : VENDOR_PEER_GONE);

	while (sq->completed != sq->posted && sq_state(sq) == IBV_QPS_RTS)
		sq_settle(sq, sq_slot(sq, sq->completed), &absent);
}
