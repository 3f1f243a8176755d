/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_refused.c -- requests that ibv_post_send() refuses, for `rpma-soft --check`: the reason,
 * and what became of the rest of a list.
 */
#include <errno.h>

#include "soft_device/check/check.h"
#include "soft_device/check/sum.h"
#include "sq_check.h"
#include "sq_watch.h"

/*
 * A request is known by this on another queue pair, where its wr_id, its key and its address at the
 * peer may be others. Never 0.
 */
static uint64_t mark_of(const struct ibv_send_wr *wr)
{
	const uint64_t what = wr->num_sge > 0 ? wr->sg_list->addr : wr->wr_id;
	const uint64_t length = wr->num_sge > 0 ? wr->sg_list->length : 0;

	return check_sum_of(what, (uint64_t)wr->opcode << 32 | length) | 1;
}

void sq_check_taken(const struct send_queue *sq, const struct ibv_send_wr *list,
		    const struct ibv_send_wr *bad)
{
	for (; list != bad && list != NULL; list = list->next)
		check_drop_request(sq, mark_of(list));
}

/* All at once, as ibv_wr_complete() posts them: none was. Fewer may be posted later. */
static void hold_too_many(struct send_queue *sq)
{
	const uint32_t stack = sq_check_where();
	struct check_finding finding;

	check_find(&finding, CHECK_SQ_FULL, stack,
		   "more requests are built at once for QP %#x than its send queue has slots: %u",
		   sq->qpn, sq->max_wr);
	check_place(&finding, "posted at", stack);
	check_hold(sq, 0, &finding);
}

/* Polling and posting again mends it, or posting to another queue; NULL: it is not known. */
static void hold_full(const struct send_queue *sq, const struct ibv_send_wr *bad,
		      const struct check_finding *finding)
{
	const uint64_t mark = bad != NULL ? mark_of(bad) : 0;

	check_hold_on(&(struct check_terms){.queue = sq, .tag = mark, .request = mark}, finding);
}

/* True: it will never have room again. `is_part`: requests before it in a list were posted. */
static bool tell_full(struct send_queue *sq, const struct ibv_send_wr *bad, bool is_part)
{
	const uint32_t taken = sq->posted - atomic_load(sq->released), stack = sq_check_where();
	struct check_finding finding;
	uint32_t first;
	const uint32_t silent = sq_check_unsignaled(sq, &first);
	const bool is_stuck = silent == taken;

	if (taken == 0) {
		hold_too_many(sq);
		return false;
	}
	check_find(&finding, CHECK_SQ_FULL, stack,
		   "the send queue of QP %#x is full: %u of %u slots are taken", sq->qpn, taken,
		   sq->max_wr);
	if (is_stuck)
		check_line(&finding, "why",
			   "none of these requests is signaled, so no slot will "
			   "ever be free");
	else
		check_line(&finding, "why",
			   "their completions, or those of later requests, were not polled");
	check_line(&finding, "unsignaled", "%u since the last signaled one", silent);
	check_place(&finding, "posted at", stack);
	check_place(&finding, "oldest at", sq_check_stack(sq, atomic_load(sq->released)));
	if (silent > 0)
		check_place(&finding, "unsignaled from", sq_check_stack(sq, first));
	if (is_stuck)
		check_report(&finding);
	else if (!is_part)
		hold_full(sq, bad, &finding);
	return is_stuck;
}

static void tell_state(struct send_queue *sq)
{
	const uint32_t stack = sq_check_where();
	struct check_finding finding;

	check_find(&finding, CHECK_POST_IN_STATE, stack,
		   "a request is posted to QP %#x, which is in %s, not in RTS", sq->qpn,
		   name_of_state(sq_state(sq)));
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

void sq_check_build(struct send_queue *sq, enum check_kind kind, uint64_t asked, uint64_t granted)
{
	const bool is_inline = kind == CHECK_INLINE_TOO_LONG;
	const uint32_t stack = sq_check_where();
	struct check_finding finding;

	check_find(&finding, kind, stack, "a request has %llu %s, and QP %#x was granted %llu",
		   (unsigned long long)asked, is_inline ? "bytes of inline data" : "pieces",
		   sq->qpn, (unsigned long long)granted);
	check_line(&finding, "granted", "%s %llu", is_inline ? "max_inline_data" : "max_send_sge",
		   (unsigned long long)granted);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

static void tell_opcode(struct send_queue *sq, const struct ibv_send_wr *bad)
{
	const uint32_t stack = sq_check_where();
	struct check_finding finding;

	check_find(&finding, CHECK_WRONG_OPCODE, stack,
		   "a request of opcode %d is posted to QP %#x, which is %s", (int)bad->opcode,
		   sq->qpn,
		   sq->ud != NULL	? "UD"
		   : sq->unacknowledged ? "UC"
					: "RC");
	check_line(&finding, "request", "wr_id %#llx", (unsigned long long)bad->wr_id);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

static bool has_opcode(const struct send_queue *sq, const struct ibv_send_wr *wr)
{
	return (unsigned)wr->opcode < SQ_OPCODES && (sq->opcodes >> wr->opcode & 1) != 0;
}

static uint64_t length_of(const struct ibv_send_wr *wr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < wr->num_sge; i++)
		bytes += wr->sg_list[i].length;
	return bytes;
}

static void find_rest(struct check_finding *finding, const struct send_queue *sq, uint32_t stack,
		      const char *what)
{
	check_find(finding, CHECK_BAD_WR_IGNORED, stack,
		   "a list of requests was posted in part to QP %#x, and the rest %s", sq->qpn,
		   what);
	check_place(finding, "posted at", stack);
}

static struct sq_request request_of(const struct ibv_send_wr *wr)
{
	return (struct sq_request){
		.wr_id = wr->wr_id,
		.memory = wr->num_sge > 0 ? wr->sg_list->addr : 0,
		.remote_addr = wr->opcode == IBV_WR_SEND ? 0 : wr->wr.rdma.remote_addr,
		.opcode = wr->opcode,
	};
}

/* It is at its head what was posted before, not the rest that was moved there. */
static bool begins_again(const struct sq_watch *watch, const struct ibv_send_wr *list)
{
	const struct sq_request now = request_of(list), *head = &watch->head;

	return watch->list == list && watch->rest != list && now.wr_id == head->wr_id &&
	       now.memory == head->memory && now.remote_addr == head->remote_addr &&
	       now.opcode == head->opcode;
}

void sq_check_list(struct send_queue *sq, const struct ibv_send_wr *list)
{
	struct check_finding finding;
	struct sq_watch *watch;
	bool is_again;

	shared_lock_take(&sq->lock);
	watch = sq_watch_of(sq);
	is_again = watch != NULL && list != NULL && begins_again(watch, list);
	if (watch != NULL)
		atomic_store(&watch->list, watch->rest = NULL);
	shared_lock_release(&sq->lock);
	if (!is_again)
		return;
	find_rest(&finding, sq, sq_check_where(),
		  "is posted again together with what was posted before");
	check_report(&finding);
}

/* The first of a list was posted, and the rest, from `bad` on, was not. */
static void hold_rest(struct send_queue *sq, const struct ibv_send_wr *list,
		      const struct ibv_send_wr *bad)
{
	const uint32_t stack = sq_check_where();
	struct check_finding finding;
	unsigned posted = 0, left = 1;

	for (const struct ibv_send_wr *wr = list; wr != bad; wr = wr->next)
		posted++;
	for (const struct ibv_send_wr *wr = bad->next; wr != NULL; wr = wr->next)
		left++;
	find_rest(&finding, sq, stack, "was not posted again");
	check_line(&finding, "list", "%u requests were posted, %u from wr_id %#llx on were not",
		   posted, left, (unsigned long long)bad->wr_id);
	check_hold_on(
		&(struct check_terms){.queue = sq, .tag = bad->wr_id, .request = mark_of(bad)},
		&finding);
}

void sq_check_refused(struct send_queue *sq, const struct ibv_send_wr *list,
		      const struct ibv_send_wr *bad, int error)
{
	const bool is_part = bad != NULL && bad != list;
	struct sq_watch *watch;
	bool is_stuck = false;

	shared_lock_take(&sq->lock);
	watch = sq_watch_of(sq);
	if (watch != NULL && is_part) {
		atomic_store(&watch->list, list);
		watch->rest = bad;
		watch->head = request_of(list);
		watch->first_of_rest = request_of(bad);
	}
	if (error == ENOMEM) /* in ERR nothing can be posted any more that matters */
		is_stuck = sq_state(sq) == IBV_QPS_ERR || tell_full(sq, bad, is_part);
	else if (sq_state(sq) < IBV_QPS_RTS)
		tell_state(sq);
	else if (bad != NULL && !has_opcode(sq, bad))
		tell_opcode(sq, bad);
	else if (bad != NULL && bad->num_sge > 0 && (uint32_t)bad->num_sge > sq->max_sge)
		sq_check_build(sq, CHECK_TOO_MANY_SGES, (uint64_t)bad->num_sge, sq->max_sge);
	else if (bad != NULL && bad->num_sge >= 0 && (bad->send_flags & IBV_SEND_INLINE) != 0 &&
		 length_of(bad) > sq->max_inline)
		sq_check_build(sq, CHECK_INLINE_TOO_LONG, length_of(bad), sq->max_inline);
	shared_lock_release(&sq->lock);
	if (is_part && !is_stuck)
		hold_rest(sq, list, bad);
}
