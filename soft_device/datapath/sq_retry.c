/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_retry.c -- requests that are tried again: after the time that a receiver without a receive
 * asks for, and where no target answers, until the transport's timeout has run out; see sq.h.
 */
#include "soft_device/process/process.h"
#include "sq.h"

#define ABSENT_FIRST_NS 20000u	 /* between tries at a target that is not there: doubled ... */
#define ABSENT_LAST_NS	1000000u /* ... up to this */

/* IBA table 45 (9.7.5.2.8): what min_rnr_timer means, in units of 10 microseconds. */
static uint64_t rnr_ns(uint8_t timer)
{
	static const uint32_t tens[32] = {
		65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
		48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
	};

	return tens[timer & 31] * UINT64_C(10000);
}

static enum ibv_wc_status retry_rnr(const struct send_queue *sq, struct send_slot *slot,
				    uint8_t timer)
{
	if (sq->path.rnr_retry != 7 && slot->rnr_tries >= sq->path.rnr_retry)
		return IBV_WC_RNR_RETRY_EXC_ERR;
	slot->rnr_tries++;
	slot->due_ns = process_now_ns() + rnr_ns(timer);
	return IBV_WC_SUCCESS;
}

/* One whose lock a stopped process holds is there: it is tried again without end. */
static enum ibv_wc_status retry_absent(const struct send_queue *sq, struct send_slot *slot,
				       bool busy)
{
	uint64_t now_ns = process_now_ns(), pause_ns = ABSENT_LAST_NS;

	if (busy)
		slot->give_up_ns = 0;
	else if (slot->give_up_ns == 0 && sq->path.timeout != 0)
		slot->give_up_ns =
			now_ns + (UINT64_C(4096) << sq->path.timeout) * (sq->path.retry_cnt + 1u);
	if (slot->give_up_ns != 0 && now_ns >= slot->give_up_ns)
		return IBV_WC_RETRY_EXC_ERR;
	if (slot->absent_tries < 6)
		pause_ns = (uint64_t)ABSENT_FIRST_NS << slot->absent_tries;
	slot->absent_tries++;
	slot->due_ns = now_ns + (pause_ns < ABSENT_LAST_NS ? pause_ns : ABSENT_LAST_NS);
	return IBV_WC_SUCCESS;
}

enum ibv_wc_status sq_retry(const struct send_queue *sq, struct send_slot *slot,
			    const struct outcome *outcome)
{
	if (outcome->kind == OUTCOME_RNR)
		return retry_rnr(sq, slot, outcome->rnr_timer);
	return retry_absent(sq, slot, outcome->kind == OUTCOME_BUSY);
}
