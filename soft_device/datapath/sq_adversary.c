/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sq_adversary.c -- see sq_adversary.h; what may pass what is in IBA 10.8.3.3.
 *
 * A queue has two fronts: `front` is the first request that is not executed, `completed` (sq.h) the
 * first that has no completion. A step moves one of them. Reads between the two have a copy of what
 * they read in their turn, and for their completions they read again: so they see what requests
 * behind them have written, which only a fence would forbid. The copy is what a read gets if that
 * cannot be done any more, as when a request behind it has failed: the read had been answered.
 * Atomics are executed in their turn as well, and the old value is stored with the completion.
 */
#include "sq_adversary.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "names/random.h"
#include "soft_device/check/check.h"
#include "soft_device/faults/fault.h"
#include "soft_device/process/cancel.h"
#include "soft_device/process/process.h"
#include "sq_check.h"
#include "sq_parts.h"

#define STEP_NS	   200000u   /* between steps where no thread polls, ... */
#define POST_NS	   5000000u  /* ... and before the first of them */
#define POLLED_NS  20000000u /* a thread that has polled will do so again */
#define TURNS	   16u	     /* a queue waits for at most so many steps of others, if they go on */
#define GROUPS	   4u	     /* steps in which a payload arrives */
#define ONE_GROUP  TARGET_MEMORY_LINE
#define COPY_MAX   0x100000u /* longer reads are not passed */
#define AHEAD_MAX  64u
#define PAUSE_NS   20000u
#define PAUSES	   4u /* up to so many times as long */
#define EXEC_MODEL __attribute__((tls_model("initial-exec")))

/* A request between the two fronts. */
struct ahead {
	void *copy;	 /* what a read has read in its turn */
	uint64_t before; /* what an atomic has found */
	unsigned group;	 /* the next part of its payload to move */
};

struct plan {
	struct ahead *slots; /* as many as the queue has */
	uint32_t front;
	bool is_blocked;   /* the one at the front waits for those before it */
	bool has_failed;   /* the one at the front, in this way: it is told in its turn */
	bool runs_at_post; /* a step is made at once */
	struct outcome failed;
	uint64_t wake_ns; /* a step is due even if no thread polls; 0: not known yet */
};

enum choice {
	CHOOSE_AT_POST = 1,
	CHOOSE_TURN,
	CHOOSE_FRONT,
	CHOOSE_GROUPS,
	CHOOSE_DEAL,
	CHOOSE_AT_ONCE,
	CHOOSE_GAP,
	CHOOSE_PAUSE
};

enum step { STEP_MADE, STEP_WAITS, STEP_ORDINARY };

bool adversary_any;

static uint64_t seed;
static unsigned differs;		/* enum soft_adversary */
static struct plan *plans[SEGMENT_QPS]; /* each under its queue's lock */
static _Atomic uint64_t turns[SEGMENT_QPS];
static _Atomic uint64_t last_turn;	       /* the highest that was taken */
static _Thread_local bool may_step EXEC_MODEL; /* this thread polls, and has not made its step */
static _Thread_local bool is_in_haste EXEC_MODEL;
static _Thread_local uint32_t pause_ns EXEC_MODEL; /* the step was followed by a pause */

static uint64_t choose(const struct send_queue *sq, uint32_t number, unsigned which)
{
	const uint64_t request = random_mix(seed + ((uint64_t)sq->index << 32 | number));

	return random_mix(request + which * RANDOM_STEP);
}

static uint64_t choose_step(const struct send_queue *sq, const struct plan *plan, unsigned which)
{
	return choose(sq, plan->front + sq->completed * 0x10001u, which);
}

static struct plan *plan_of(const struct send_queue *sq)
{
	struct plan *plan = plans[sq->index];

	if (plan != NULL)
		return plan;
	plan = calloc(1, sizeof(*plan));
	if (plan == NULL)
		return NULL;
	plan->slots = calloc(sq->count, sizeof(*plan->slots));
	if (plan->slots == NULL) {
		free(plan);
		return NULL;
	}
	plan->front = sq->completed;
	plans[sq->index] = plan;
	return plan;
}

static struct ahead *ahead_at(const struct send_queue *sq, const struct plan *plan, uint32_t number)
{
	return &plan->slots[number & (sq->count - 1)];
}

static void forget_copy(struct ahead *ahead)
{
	free(ahead->copy);
	*ahead = (struct ahead){.copy = NULL};
}

void sq_adversary_end(struct send_queue *sq)
{
	struct plan *plan = plans[sq->index];

	if (plan == NULL)
		return;
	for (uint32_t i = 0; i < sq->count; i++)
		free(plan->slots[i].copy);
	free(plan->slots);
	free(plan);
	plans[sq->index] = NULL;
}

/* --- turns --- */

static void draw_turn(const struct send_queue *sq, const struct plan *plan)
{
	atomic_store(&turns[sq->index],
		     atomic_load(&last_turn) + 1 + choose_step(sq, plan, CHOOSE_TURN) % TURNS);
}

uint64_t sq_adversary_turn(const struct send_queue *sq)
{
	return atomic_load_explicit(&turns[sq->index], memory_order_relaxed);
}

/* One that cannot make a step lets others go before it. */
void sq_adversary_take_turn(const struct send_queue *sq)
{
	const uint64_t turn = atomic_load(&turns[sq->index]);
	uint64_t last = atomic_load(&last_turn);

	while (last < turn && !atomic_compare_exchange_weak(&last_turn, &last, turn))
		;
	atomic_store(&turns[sq->index], turn + TURNS);
}

void sq_adversary_posted(struct send_queue *sq)
{
	struct plan *plan = plan_of(sq);

	if (plan == NULL)
		return;
	*ahead_at(sq, plan, sq->posted) = (struct ahead){.copy = NULL};
	plan->runs_at_post = choose(sq, sq->posted, CHOOSE_AT_POST) % 4 == 0;
	if (sq->completed != sq->posted)
		return;
	plan->wake_ns = 0;
	draw_turn(sq, plan);
}

/* --- executing --- */

static bool is_kind(const struct send_work *work, unsigned kinds)
{
	return (sq_opcodes[work->opcode].kind & kinds) != 0;
}

/* Its target is reached by this thread, and no fault or journal is about it. */
static bool is_plain(const struct send_queue *sq, const struct send_slot *slot)
{
	const struct send_work *work = &slot->work;

	return sq->ud == NULL && sq->peer->transport != PEER_TCP &&
	       sq->peer->segment->powerfail == 0 && work->opcode != IBV_WR_ATOMIC_WRITE &&
	       is_kind(work, SOFT_OP_WRITE | SOFT_OP_SEND | SOFT_OP_READ | SOFT_OP_ATOMIC) &&
	       (!is_kind(work, SOFT_OP_READ) || sq_length(work) <= COPY_MAX) && !fault_decides();
}

/* A step may execute the request at the front. */
static bool may_execute(const struct send_queue *sq, const struct plan *plan)
{
	const struct send_slot *slot = sq_slot(sq, plan->front);

	if (plan->front == sq->posted)
		return false;
	if (plan->front == sq->completed)
		return true;
	if ((differs & SOFT_ADVERSARY_PASSES) == 0)
		return false;
	return !plan->is_blocked && !plan->has_failed && plan->front - sq->completed < AHEAD_MAX &&
	       (slot->work.flags & IBV_SEND_FENCE) == 0 &&
	       (slot->due_ns == 0 || slot->due_ns <= process_now_ns()) && is_plain(sq, slot);
}

static unsigned groups_of(const struct send_queue *sq, uint32_t number, uint64_t bytes)
{
	if ((differs & SOFT_ADVERSARY_PARTS) == 0)
		return 1;
	return bytes <= ONE_GROUP ? 1 : 1 + (unsigned)(choose(sq, number, CHOOSE_GROUPS) % GROUPS);
}

static struct pieces pieces_of(const struct send_queue *sq, uint32_t number,
			       const struct ahead *ahead, const struct local_memory *local)
{
	const struct request *request = &sq_slot(sq, number)->work.request;

	return (struct pieces){
		.local = local,
		.reads = request->op == REQUEST_READ,
		.process = sq->peer->memory,
		.key = choose(sq, number, CHOOSE_DEAL),
		.groups = groups_of(sq, number, request->length),
		.first = ahead->group,
		.last = ahead->group,
	};
}

/* A read that is executed brings its bytes here first. False: no memory. */
static bool make_copy(struct ahead *ahead, uint32_t length, struct local_memory *local)
{
	forget_copy(ahead);
	if (length == 0)
		return true;
	ahead->copy = malloc(length);
	local->parts[0] = (struct iovec){ahead->copy, length};
	local->count = 1;
	return ahead->copy != NULL;
}

/* It was not executed: it is tried, or told, once those before it are complete. */
static enum step hold_back(struct send_queue *sq, struct plan *plan, const struct outcome *outcome)
{
	if (plan->front == sq->completed) {
		sq_settle(sq, sq_slot(sq, plan->front), outcome);
		return STEP_WAITS;
	}
	plan->has_failed = outcome->kind == OUTCOME_DONE;
	plan->failed = *outcome;
	plan->is_blocked = true;
	return STEP_MADE;
}

/* It goes the ordinary way, which is in order. */
static enum step leave(const struct send_queue *sq, struct plan *plan)
{
	plan->is_blocked = true;
	return plan->front == sq->completed ? STEP_ORDINARY : STEP_MADE;
}

static enum step execute_plain(struct send_queue *sq, struct plan *plan, struct local_memory *local)
{
	struct send_slot *slot = sq_slot(sq, plan->front);
	struct ahead *ahead = ahead_at(sq, plan, plan->front);
	struct pieces pieces = pieces_of(sq, plan->front, ahead, local);
	struct outcome outcome;

	if (is_kind(&slot->work, SOFT_OP_READ)) {
		pieces.groups = 1; /* the copy is made at once */
		if (!make_copy(ahead, slot->work.request.length, local))
			return leave(sq, plan);
	}
	if (check_any && sq_parts_is_rest(&pieces))
		sq_check_source(sq, plan->front);
	if (is_kind(&slot->work, SOFT_OP_ATOMIC) && (differs & SOFT_ADVERSARY_ATOMICS) != 0 &&
	    choose(sq, plan->front, CHOOSE_GAP) % 2 == 0)
		target_memory_gap_ns = PAUSE_NS;
	outcome = sq_parts_execute(sq, &slot->work.request, local, &pieces);
	target_memory_gap_ns = 0;
	if (outcome.kind != OUTCOME_DONE || outcome.status != IBV_WC_SUCCESS)
		return hold_back(sq, plan, &outcome);
	ahead->before = outcome.before;
	if (!sq_parts_is_rest(&pieces)) {
		ahead->group++;
		return STEP_MADE;
	}
	ahead->group = 0;
	plan->front++;
	return STEP_MADE;
}

static enum step execute_front(struct send_queue *sq, struct plan *plan)
{
	struct send_slot *slot = sq_slot(sq, plan->front);
	struct local_memory local;

	if (plan->has_failed) { /* and it is the next */
		plan->has_failed = false;
		sq_settle(sq, slot, &plan->failed);
		return STEP_WAITS;
	}
	if (is_plain(sq, slot) &&
	    sq_goes_out(&slot->work, sq_make_request(sq, &slot->work, &local)))
		return execute_plain(sq, plan, &local);
	return leave(sq, plan);
}

/* --- completing --- */

static void fail_local(const struct send_queue *sq, const struct send_work *work,
		       enum ibv_wc_status own, struct outcome *outcome)
{
	outcome->status = own;
	outcome->vendor_err = (uint8_t)sq_request_reason(sq, work, own);
}

/* The data of a read come to the program's memory. False: there are more to come. */
static bool bring(struct send_queue *sq, struct ahead *ahead, struct outcome *outcome)
{
	struct send_work *work = &sq_slot(sq, sq->completed)->work;
	struct local_memory local;
	const enum ibv_wc_status own = sq_make_request(sq, work, &local);
	struct iovec whole = {.iov_base = ahead->copy};
	struct pieces pieces;

	if (own != IBV_WC_SUCCESS) {
		fail_local(sq, work, own, outcome);
		return true;
	}
	if (work->request.length == 0)
		return true;
	pieces = pieces_of(sq, sq->completed, ahead, &local);
	if (!is_in_haste && sq_parts_read(sq, &work->request, &pieces))
		return ++ahead->group == pieces.groups;
	whole.iov_len = work->request.length;
	if (target_memory_write(0, &whole, 1, local.parts, local.count) != 0) {
		outcome->status = IBV_WC_LOC_PROT_ERR;
		outcome->vendor_err = VENDOR_UNMAPPED;
	}
	return true;
}

static void finish_atomic(struct send_queue *sq, const struct ahead *ahead, struct outcome *outcome)
{
	struct send_work *work = &sq_slot(sq, sq->completed)->work;
	struct local_memory local;
	const enum ibv_wc_status own = sq_make_request(sq, work, &local);

	outcome->before = ahead->before;
	if (sq_goes_out(work, own))
		sq_finish_atomic(sq, work, own, &local, outcome);
	else
		fail_local(sq, work, own, outcome);
}

static void complete_oldest(struct send_queue *sq, const struct plan *plan)
{
	struct send_slot *slot = sq_slot(sq, sq->completed);
	struct ahead *ahead = ahead_at(sq, plan, sq->completed);
	struct outcome outcome = {.kind = OUTCOME_DONE};

	if (is_kind(&slot->work, SOFT_OP_READ) && !bring(sq, ahead, &outcome))
		return;
	if (is_kind(&slot->work, SOFT_OP_ATOMIC))
		finish_atomic(sq, ahead, &outcome);
	forget_copy(ahead);
	sq_settle(sq, slot, &outcome);
}

void sq_adversary_settle(struct send_queue *sq)
{
	struct plan *plan = plans[sq->index];
	const bool before = is_in_haste;

	if (plan == NULL || sq->peer == NULL)
		return;
	is_in_haste = true;
	while ((int32_t)(plan->front - sq->completed) > 0)
		complete_oldest(sq, plan);
	is_in_haste = before;
	if (plan->has_failed && plan->front == sq->completed && sq->completed != sq->posted)
		execute_front(sq, plan);
}

/* --- steps --- */

/* After a step that leaves a payload in part there is a pause more often. */
static void draw_pause(const struct send_queue *sq, const struct plan *plan)
{
	const unsigned group =
		ahead_at(sq, plan, plan->front)->group + ahead_at(sq, plan, sq->completed)->group;
	const uint64_t chosen = choose_step(sq, plan, CHOOSE_PAUSE + group * 16);

	if (chosen % (group > 0 ? 2 : 8) == 0)
		pause_ns = PAUSE_NS * (1 + (uint32_t)(chosen >> 32) % PAUSES);
}

/* A request that is executed with none before it may complete at once. */
static enum step make_step(struct send_queue *sq, struct plan *plan)
{
	const bool is_first = plan->front == sq->completed;
	enum step step;

	if (is_first)
		plan->is_blocked = false;
	if (is_first || (may_execute(sq, plan) && choose_step(sq, plan, CHOOSE_FRONT) % 2 == 0)) {
		step = execute_front(sq, plan);
		if (!is_first || step != STEP_MADE || plan->front == sq->completed ||
		    choose_step(sq, plan, CHOOSE_AT_ONCE) % 2 == 0)
			return step;
	}
	complete_oldest(sq, plan);
	return STEP_MADE;
}

/* How a step is taken: by whom, or after the time for it. */
enum taken { TAKEN_NOT, TAKEN_BY_POLL, TAKEN_AT_POST, TAKEN_IN_TIME };

static enum taken take_step(struct send_queue *sq, struct plan *plan)
{
	const bool at_post = plan->runs_at_post, by_poll = is_in_haste || may_step;
	uint64_t now_ns;

	may_step = plan->runs_at_post = false;
	if (by_poll || at_post)
		return by_poll ? TAKEN_BY_POLL : TAKEN_AT_POST;
	now_ns = process_now_ns();
	if (plan->wake_ns == 0)
		plan->wake_ns = now_ns + (sq_wait_is_armed(sq->cq) ? STEP_NS : POST_NS);
	if (now_ns >= plan->wake_ns)
		return TAKEN_IN_TIME;
	sq_wait_until(sq, plan->wake_ns);
	return TAKEN_NOT;
}

/* Not made by a poll: the next step. */
static uint64_t time_of_next(const struct send_queue *sq, enum taken taken)
{
	const uint64_t now_ns = process_now_ns();

	if (taken == TAKEN_IN_TIME || sq_wait_is_armed(sq->cq))
		return now_ns + STEP_NS;
	return now_ns + (taken == TAKEN_BY_POLL ? POLLED_NS : POST_NS);
}

bool sq_adversary_passes(struct send_queue *sq)
{
	const uint32_t completed = sq->completed;
	struct plan *plan = plan_of(sq);
	enum taken taken;
	enum step step;

	if (plan == NULL)
		return true;
	if ((int32_t)(sq->completed - plan->front) > 0)
		plan->front = sq->completed;
	taken = take_step(sq, plan);
	if (taken == TAKEN_NOT)
		return false;
	do
		step = make_step(sq, plan);
	while (is_in_haste && step == STEP_MADE && sq->completed != sq->posted);
	plan->wake_ns = time_of_next(sq, taken);
	draw_turn(sq, plan);
	draw_pause(sq, plan);
	/* else the queue goes on, and comes here again */
	if (step != STEP_ORDINARY && sq->completed == completed && sq->completed != sq->posted)
		sq_wait_until(sq, plan->wake_ns);
	return step == STEP_ORDINARY;
}

void sq_adversary_poll(void)
{
	struct timespec pause = {.tv_sec = 0};
	int cancel;

	if (atomic_load_explicit(&sq_waiting, memory_order_relaxed) == 0)
		return;
	may_step = true;
	pause_ns = 0;
	sq_progress_turn();
	may_step = false;
	pause.tv_nsec = pause_ns;
	if (pause_ns != 0) {
		cancel = cancel_off();
		nanosleep(&pause, NULL);
		cancel_restore(cancel);
	}
}

void sq_adversary_run(struct send_queue *sq)
{
	is_in_haste = true;
	sq_run(sq);
	is_in_haste = false;
}

void sq_adversary_run_all(void)
{
	is_in_haste = true;
	sq_progress_of(SQ_ALL_CQS);
	is_in_haste = false;
}

/* --- the part --- */

static int begin(struct process *process)
{
	adversary_any = process->options.adversary;
	differs = process->options.adversary_kinds;
	seed = random_mix(process->options.adversary_seed +
			  RANDOM_STEP); /* neighbours have nothing in common */
	return 0;
}

/* Threads of the parent may have had the locks of its queues. */
void sq_adversary_forget(void)
{
	memset(plans, 0, sizeof(plans));
}

const struct process_part sq_adversary_part = {.begin = begin};
