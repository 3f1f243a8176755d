/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_check.c -- see sq_check.h: what is known of each request that is posted.
 *
 * A program may use the memory of a request again once its completion was polled. To see that it
 * waits, a request is executed when the program polls, or after HOLD_NS, whatever comes first, and
 * its bytes are compared with those at the post by a sum of them: sq_check_source.c. Where memory
 * is watched that time is longer, as only bytes that come after an access show that it was early.
 * What is done for each request is kept short: no clock is read, no memory made and no stack
 * unwound twice for one.
 */
#include "sq_check.h"

#include <stdlib.h>
#include <string.h>

#include "mr_check.h"
#include "soft_device/check/watch.h"
#include "soft_device/process/process.h"
#include "sq_adversary.h"
#include "sq_watch.h"

#define HOLD_NS	   1000000u
#define WATCHED_NS 500000000u
#define OTHER_NS   50000u
#define FAILED	   1024u
#define FIRST	   128u /* requests of one place, which are all held; then ... */
#define EACH	   16u	/* ... one of 16, at random */

static _Atomic uint32_t failed[FAILED]; /* numbers of QPs of which a failed completion was polled */
static _Atomic uint32_t last_post;	/* its stack */
static _Atomic uint32_t failures_polled, failure_polled_at, failure_qpn; /* the first one's */
static _Atomic uint32_t seen[STACKS_MOST]; /* requests of each stack; some are missed by threads */

_Thread_local uint32_t sq_check_place;

/* The calling thread. */
static _Thread_local struct {
	uint32_t cq; /* that it polls */
	bool is_polling;
} thread __attribute__((tls_model("initial-exec")));

struct sq_watch *sq_watch_new(struct send_queue *sq)
{
	struct sq_watch *watch = calloc(1, sizeof(*watch) + sq->count * sizeof(watch->posts[0]));

	if (watch == NULL)
		return NULL;
	watch->sums = check_wants(CHECK_SOURCE_CHANGED);
	atomic_store(&sq->watch, watch);
	return watch;
}

uint32_t sq_check_stack(const struct send_queue *sq, uint32_t number)
{
	const struct sq_post *post = sq_post_at(sq, number);

	return post == NULL ? 0 : post->stack;
}

uint32_t sq_check_last(void)
{
	return atomic_load(&last_post);
}

void sq_check_end(struct send_queue *sq)
{
	struct sq_watch *watch = atomic_exchange(&sq->watch, NULL);

	if (watch != NULL)
		sq_check_forget_commits(watch);
	free(watch);
	watch_forget(sq);
	check_release(sq);
}

void sq_check_forget(void)
{
	sq_check_forget_receives();
	atomic_store(&failures_polled, 0);
	for (unsigned i = 0; i < FAILED; i++)
		atomic_store_explicit(&failed[i], 0, memory_order_relaxed);
}

/* --- posting --- */

/* The queue pair has failed. If the program knows, it goes on all the same. */
static __attribute__((cold, noinline)) void tell_after_error(struct send_queue *sq,
							     struct sq_watch *watch, uint32_t stack)
{
	struct check_finding finding;

	if (atomic_load(&failed[sq->qpn % FAILED]) != sq->qpn)
		return;
	check_find(&finding, CHECK_POST_AFTER_ERROR, stack,
		   "request %llu is posted to QP %#x, which is in ERR since a completion of it "
		   "failed, and that was polled",
		   (unsigned long long)watch->number, sq->qpn);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

/* At random, so that what is repeated in a ring of any length is met. */
static bool is_drawn(uint32_t number)
{
	uint32_t mixed = number * UINT32_C(0x9e3779b1);

	mixed = (mixed ^ mixed >> 15) * UINT32_C(0x85ebca77);
	return mixed < UINT32_MAX / EACH;
}

/* A mistake is one of its place, and is found by some of the requests from there. */
static bool is_to_be_held(uint32_t stack)
{
	const uint32_t before = atomic_load_explicit(&seen[stack], memory_order_relaxed);

	atomic_store_explicit(&seen[stack], before + 1, memory_order_relaxed);
	return before < FIRST || is_drawn(before) || check_every || stack == 0;
}

static uint64_t hold_time_ns(void)
{
	return __builtin_expect(watch_any, 0) ? WATCHED_NS : HOLD_NS;
}

/* The memory that a read or an atomic writes to. */
static __attribute__((noinline)) void watch_target(const struct send_queue *sq,
						   const struct send_work *work, uint32_t stack)
{
	const struct send_opcode *opcode = &sq_opcodes[work->opcode];
	uint64_t memory;

	if (opcode->local_access == 0 || work->num_sge == 0 || work->sge->length == 0 ||
	    mr_check_quick(process_current->segment, work->sge->lkey, sq->pd, work->sge->addr,
			   work->sge->length, opcode->local_access, &memory) == NULL)
		return;
	watch_begin(&(struct watched){
		.owner = sq,
		.counter = &sq->completed,
		.number = sq->posted,
		.stack = stack,
		.qpn = sq->qpn,
		.what = opcode->kind == SOFT_OP_READ ? "a read" : "an atomic operation",
		.memory = memory,
		.length = work->sge->length,
	});
}

/* It goes on after it was refused; with the same request, which may have another wr_id now. */
static __attribute__((noinline)) void drop_held(const struct send_queue *sq,
						const struct sq_request *first_of_rest,
						uint64_t wr_id, const struct ibv_sge *piece,
						uint64_t remote_addr)
{
	check_drop_kind(sq, CHECK_SQ_FULL);
	check_drop(sq, CHECK_BAD_WR_IGNORED, wr_id);
	if (piece != NULL && piece->addr == first_of_rest->memory &&
	    remote_addr == first_of_rest->remote_addr)
		check_drop(sq, CHECK_BAD_WR_IGNORED, first_of_rest->wr_id);
}

bool sq_check_post(struct send_queue *sq, uint64_t wr_id, const struct ibv_sge *piece,
		   uint64_t remote_addr)
{
	struct sq_watch *watch = sq_watch_of(sq);
	struct sq_post *post;

	atomic_fetch_add_explicit(&check_requests, 1, memory_order_relaxed);
	if (watch == NULL)
		return false;
	post = &watch->posts[sq->posted & (sq->count - 1)];
	watch->number++;
	watch->poster = &thread;
	post->stack = sq_check_where();
	post->has_sum = false;
	post->lost_piece = 0;
	post->hold_ns = 0;
	watch->holds_all = is_to_be_held(post->stack) || watch->commits != NULL;
	if (!watch->holds_all)
		atomic_fetch_add_explicit(&check_passed, 1, memory_order_relaxed);
	atomic_store_explicit(&last_post, post->stack, memory_order_relaxed);
	if (__builtin_expect(sq_state(sq) == IBV_QPS_ERR, 0))
		tell_after_error(sq, watch, post->stack);
	if (__builtin_expect(atomic_load_explicit(&check_held, memory_order_relaxed) > 0, 0))
		drop_held(sq, &watch->first_of_rest, wr_id, piece, remote_addr);
	return watch->holds_all;
}

void sq_check_kept(struct send_queue *sq, struct send_slot *slot, bool is_held)
{
	const struct sq_watch *watch = sq_watch(sq);
	struct sq_post *post = sq_post_at(sq, sq->posted);

	if ((slot->work.flags & IBV_SEND_INLINE) == 0)
		for (uint32_t i = 0; i < slot->work.num_sge; i++)
			slot->sge[i].lkey &= ~CHECK_LKEY;
	if (post == NULL)
		return;
	if (is_held) {
		post->hold_ns = process_now_ns() + hold_time_ns();
		post->has_sum = watch->sums && !sq_source_is_brought(sq, &slot->work) &&
				sq_source_sum(sq, &slot->work, &post->sum);
	}
	if (__builtin_expect(watch_any, 0))
		watch_target(sq, &slot->work, post->stack);
	if (__builtin_expect(watch->commits != NULL || check_durable_on_send, 0))
		sq_check_claims(sq, &slot->work, post->stack);
}

void sq_check_posted(struct send_queue *sq, struct send_slot *slot)
{
	const struct ibv_sge *piece = slot->work.num_sge > 0 ? slot->sge : NULL;

	sq_check_kept(sq, slot,
		      sq_check_post(sq, slot->work.wr_id, piece, slot->work.request.remote_addr));
}

/* A poll ends the hold, one of another CQ a little later. */
static bool is_over(const struct send_queue *sq, const struct sq_post *post)
{
	if (post->hold_ns == 0)
		return true;
	if (!thread.is_polling)
		return process_now_ns() >= post->hold_ns;
	return thread.cq == sq->cq || thread.cq == SQ_ALL_CQS ||
	       process_now_ns() >= post->hold_ns - hold_time_ns() + OTHER_NS;
}

/* One that waits is run when the first of its requests is due, and then waits for the next. */
static void hold(struct send_queue *sq, const struct sq_post *post)
{
	if (!atomic_load_explicit(&sq->waiting, memory_order_relaxed))
		sq_wait_until(sq, post->hold_ns);
}

bool sq_check_holds(struct send_queue *sq)
{
	const struct sq_post *post = sq_post_at(sq, sq->next);

	if (post == NULL || post->hold_ns == 0 || fault_more || sq_state(sq) != IBV_QPS_RTS ||
	    sq_is_local(&sq_slot(sq, sq->next)->work))
		return false;
	hold(sq, post);
	return true;
}

bool sq_check_idles(const struct send_queue *sq)
{
	const struct sq_watch *watch = sq_watch(sq);

	return sq->next == sq->posted && watch != NULL && !watch->holds_all;
}

bool sq_check_passes(struct send_queue *sq, const struct send_slot *slot)
{
	const struct sq_post *post = sq_post_at(sq, sq->next);

	if (post == NULL || sq_is_local(&slot->work) || is_over(sq, post))
		return true;
	hold(sq, post);
	return false;
}

void sq_check_source(struct send_queue *sq, uint32_t number)
{
	struct send_work *work = &sq_slot(sq, number)->work;
	struct sq_post *post = sq_post_at(sq, number);
	bool is_readable;
	uint64_t sum;

	if (post == NULL)
		return;
	if (__builtin_expect(sq_watch(sq)->commits != NULL, 0))
		sq_check_commits(sq, number);
	if (!post->has_sum)
		return;
	is_readable = sq_source_sum(sq, work, &sum);
	post->has_sum = is_readable && sum == post->sum; /* it may be tried again */
	if (is_readable && !post->has_sum)
		sq_source_tell(sq, work, post->stack);
}

void sq_check_progress(uint32_t cq)
{
	if (adversary_any)
		return; /* it makes the steps */
	thread.is_polling = true;
	thread.cq = cq;
	sq_progress_of(cq);
	thread.is_polling = false;
}

void sq_check_run(struct send_queue *sq)
{
	if (adversary_any) {
		sq_adversary_run(sq);
		return;
	}
	thread.is_polling = true;
	thread.cq = SQ_ALL_CQS;
	sq_run(sq);
	thread.is_polling = false;
}

/* A program has to live with it: the peer or the way to it is gone, or a fault was asked for. */
static bool is_no_mistake(uint32_t why)
{
	return (why >= VENDOR_NO_QP && why <= VENDOR_NO_ACCESS) || why == VENDOR_FAULT;
}

static void tell_status(int status);

void sq_check_polled(const struct ibv_wc *wc)
{
	if (wc->status == IBV_WC_WR_FLUSH_ERR)
		return;
	atomic_store(&failed[wc->qp_num % FAILED], wc->qp_num);
	if (is_no_mistake(wc->vendor_err))
		return;
	if (atomic_fetch_add(&failures_polled, 1) == 0) {
		atomic_store(&failure_polled_at, stack_here());
		atomic_store(&failure_qpn, wc->qp_num);
		check_at_end(tell_status);
	}
}

void sq_check_known(const struct send_queue *sq)
{
	uint32_t qpn = sq->qpn;

	atomic_compare_exchange_strong(&failed[qpn % FAILED], &qpn, 0);
}

/* The process ends with success. */
static void tell_status(int status)
{
	const uint32_t stack = atomic_load(&failure_polled_at);
	struct check_finding finding;

	if (status != 0 || atomic_load(&failures_polled) == 0)
		return;
	check_find(&finding, CHECK_STATUS_UNREAD, stack,
		   "%u completions failed, the first of QP %#x, and the program ends with status 0",
		   atomic_load(&failures_polled), atomic_load(&failure_qpn));
	check_place(&finding, "polled at", stack);
	check_report(&finding);
}

uint32_t sq_check_unsignaled(const struct send_queue *sq, uint32_t *first)
{
	const uint32_t released = atomic_load(sq->released);
	uint32_t number = sq->posted;

	while (number != released) {
		const struct send_work *work = &sq_slot(sq, number - 1)->work;

		if (sq->sig_all || (work->flags & IBV_SEND_SIGNALED) != 0)
			break;
		number--;
	}
	*first = number;
	return sq->posted - number;
}

/* The connection has ended: there is no later post, and none is missing. */
void sq_check_broken(struct send_queue *sq)
{
	check_drop_all(sq);
}

/* The thread that posts to it is another one: it may go on. */
static bool has_another_poster(const struct send_queue *sq)
{
	const struct sq_watch *watch = sq_watch(sq);

	return watch != NULL && watch->poster != &thread;
}

enum sq_check_feed sq_check_feeds(struct send_queue *sq)
{
	enum sq_check_feed feed = FEED_EMPTY;
	uint32_t first;

	shared_lock_take(&sq->lock);
	if (sq->completed != sq->posted)
		feed = FEED_COMPLETION; /* or an error */
	else if (sq->posted != atomic_load(sq->released))
		feed = sq_check_unsignaled(sq, &first) == sq->posted - atomic_load(sq->released) &&
				       !has_another_poster(sq)
			       ? FEED_NOTHING
			       : FEED_COMPLETION;
	shared_lock_release(&sq->lock);
	return feed;
}

const char *sq_check_rights(uint32_t access, char names[NAMES_BYTES])
{
	static const char prefix[] = "IBV_ACCESS_";
	char *to = names;

	names_of_access(access, names);
	for (const char *from = names; *from != '\0';) {
		if (strncmp(from, prefix, sizeof(prefix) - 1) == 0)
			from += sizeof(prefix) - 1;
		else if (*from == ',' || *from == '|')
			from++;
		else
			*to++ = *from++;
	}
	*to = '\0';
	return names;
}
