/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check_durable.c -- requests that claim that data are durable, for `rpma-soft --check`: one
 * that writes a commit word which the program has marked, and with durable-on-send each message.
 *
 * The mark is for the next request of the queue pair that writes to the word. How that writes is
 * looked at when it is posted; what it commits, when it is about to be executed, as the flush may
 * be posted right before it.
 */
#include <stdlib.h>

#include "soft_device/powerfail/durable.h"
#include "sq_check.h"
#include "sq_watch.h"

#define WORD 8u
#define LINE 64u /* what arrives as a whole on all known hardware */

/* Marks of a queue pair that wait for their write; the oldest of more are dropped. */
#define UNUSED_MAX 64u

struct sq_commit {
	struct sq_commit *next;
	uint64_t word;
	uint64_t data; /* that it commits */
	uint64_t length;
	uint32_t marked_at;
	uint32_t number; /* the request that writes it, once that is posted */
	bool is_posted;
};

static uint64_t length_of(const struct send_work *work)
{
	return sq_opcodes[work->opcode].eight ? WORD : sq_length(work);
}

static bool writes_to(const struct send_work *work, uint64_t word)
{
	const uint64_t at = work->request.remote_addr, length = length_of(work);

	return (sq_opcodes[work->opcode].kind & (SOFT_OP_WRITE | SOFT_OP_ATOMIC)) != 0 &&
	       length > 0 && at < word + WORD && word < at + length;
}

/* CHECK_KINDS: it arrives as a whole. */
static enum check_kind kind_of(const struct send_work *work, uint64_t word)
{
	const uint64_t at = work->request.remote_addr;

	if (word % WORD != 0)
		return CHECK_COMMIT_WORD_TORN;
	if (sq_opcodes[work->opcode].eight)
		return CHECK_KINDS;
	return at / LINE == (at + length_of(work) - 1) / LINE ? CHECK_COMMIT_WORD_PLAIN
							      : CHECK_COMMIT_WORD_TORN;
}

static void find_word(struct check_finding *finding, const struct send_work *work, uint64_t word,
		      enum check_kind kind, uint32_t stack)
{
	if (word % WORD != 0)
		check_find(finding, kind, stack,
			   "the commit word at %#llx is %llu bytes behind a multiple of 8, so "
			   "nothing writes it at once",
			   (unsigned long long)word, (unsigned long long)(word % WORD));
	else
		check_find(finding, kind, stack,
			   "the commit word at %#llx is written by an RDMA write of %llu bytes, %s",
			   (unsigned long long)word, (unsigned long long)length_of(work),
			   kind == CHECK_COMMIT_WORD_TORN
				   ? "which arrive in any order"
				   : "which arrive at once on some platforms only");
}

static void tell_word(const struct send_queue *sq, const struct send_work *work,
		      const struct sq_commit *commit, enum check_kind kind, uint32_t stack)
{
	const uint64_t begin = work->request.remote_addr, end = begin + length_of(work);
	struct check_finding finding;

	find_word(&finding, work, commit->word, kind, stack);
	check_line(&finding, "requested", "%#llx .. %#llx   wr_id %#llx, QP %#x",
		   (unsigned long long)begin, (unsigned long long)end,
		   (unsigned long long)work->wr_id, sq->qpn);
	check_place(&finding, "posted at", stack);
	check_place(&finding, "marked at", commit->marked_at);
	check_report(&finding);
}

/* Takes it out of the list. */
static void end_commit(struct sq_commit **at)
{
	struct sq_commit *commit = *at;

	*at = commit->next;
	free(commit);
}

/* Makes room for one more; the newest are first. */
static void drop_unused(struct sq_commit **at)
{
	unsigned unused = 0;

	while (*at != NULL) {
		unused += !(*at)->is_posted;
		if (unused >= UNUSED_MAX && !(*at)->is_posted)
			end_commit(at);
		else
			at = &(*at)->next;
	}
}

void sq_check_commit(struct send_queue *sq, uint64_t word, uint64_t data, uint64_t length)
{
	struct sq_commit *commit = malloc(sizeof(*commit));
	struct sq_watch *watch;

	if (commit == NULL)
		return;
	*commit = (struct sq_commit){
		.word = word, .data = data, .length = length, .marked_at = stack_here()};
	shared_lock_take(&sq->lock);
	watch = sq_watch_of(sq);
	if (watch != NULL) {
		drop_unused(&watch->commits);
		commit->next = watch->commits;
		watch->commits = commit;
		commit = NULL;
	}
	shared_lock_release(&sq->lock);
	free(commit);
}

void sq_check_forget_commits(struct sq_watch *watch)
{
	while (watch->commits != NULL)
		end_commit(&watch->commits);
}

/* Each mark for a word that this request writes is for it; those of requests that are done end. */
static void meet_marks(struct send_queue *sq, const struct send_work *work, uint32_t stack)
{
	struct sq_commit **at = &sq_watch(sq)->commits;
	struct sq_commit *commit;
	enum check_kind kind;

	while ((commit = *at) != NULL) {
		const bool is_done =
			commit->is_posted && (int32_t)(commit->number - sq->completed) < 0;
		const bool is_met = !commit->is_posted && writes_to(work, commit->word);

		kind = is_met ? kind_of(work, commit->word) : CHECK_KINDS;
		if (kind != CHECK_KINDS)
			tell_word(sq, work, commit, kind, stack);
		if (is_met) {
			commit->is_posted = true;
			commit->number = sq->posted;
		}
		if (is_done)
			end_commit(at);
		else
			at = &commit->next;
	}
}

/* The program answers: what has left the device by now was told by a message that came. */
static void claim_by_message(const struct send_queue *sq, uint32_t stack)
{
	const struct durable_claim claim = {
		.length = UINT64_MAX, .peer_qpn = sq->qpn, .is_of_left = true};
	struct check_finding finding;
	struct journal_line first;
	const uint32_t lines = durable_lacking_here(&claim, &first);

	if (lines == 0)
		return;
	check_find(&finding, CHECK_NOT_DURABLE, stack,
		   "a message of QP %#x is posted, and %u 64-byte lines that came over it before "
		   "are not durable",
		   sq->qpn, lines);
	durable_put_first(&finding, &claim, &first);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

void sq_check_claims(struct send_queue *sq, const struct send_work *work, uint32_t stack)
{
	meet_marks(sq, work, stack);
	if (check_durable_on_send && sq_opcodes[work->opcode].takes_receive)
		claim_by_message(sq, stack);
}

static void tell_early(const struct send_queue *sq, const struct sq_commit *commit, uint32_t stack)
{
	const struct durable_claim claim = {.addr = commit->data,
					    .length = commit->length,
					    .qpn = sq->qpn,
					    .peer_qpn = sq->path.qpn};
	struct check_finding finding;
	struct journal_line first;
	uint32_t lines = 0;

	if (sq->peer != NULL && commit->length > 0)
		lines = durable_lacking(sq->peer, &claim, &first);
	if (lines == 0)
		return;
	check_find(&finding, CHECK_NOT_DURABLE, stack,
		   "the commit word at %#llx is written, and %u 64-byte lines of the %llu bytes "
		   "at %#llx that it commits are not durable",
		   (unsigned long long)commit->word, lines, (unsigned long long)commit->length,
		   (unsigned long long)commit->data);
	durable_put_first(&finding, &claim, &first);
	check_place(&finding, "posted at", stack);
	check_place(&finding, "marked at", commit->marked_at);
	check_report(&finding);
}

void sq_check_commits(struct send_queue *sq, uint32_t number)
{
	struct sq_commit **at = &sq_watch(sq)->commits;

	while (*at != NULL) {
		if (!(*at)->is_posted || (*at)->number != number) {
			at = &(*at)->next;
			continue;
		}
		tell_early(sq, *at, sq_check_stack(sq, number));
		end_commit(at);
	}
}
