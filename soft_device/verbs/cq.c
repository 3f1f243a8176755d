/* SPDX-License-Identifier: BSD-3-Clause */
/* cq.c -- completion queues: polling, arming, and their lives; see completion.c for their rings. */
#include "cq.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "cq_check.h"
#include "held.h"
#include "objects.h"
#include "qp.h"
#include "soft_device/check/objects.h"
#include "soft_device/datapath/completion.h"
#include "soft_device/datapath/sq.h"
#include "soft_device/datapath/sq_adversary.h"
#include "soft_device/faults/call.h"
#include "soft_device/process/agent.h"
#include "soft_device/process/trace.h"
#include "soft_device/transport/tcp.h"

#define YIELD_EVERY 1024u /* empty polls; 5 us or so */
#define LOOK_COST   64u	  /* a look at a socket takes as long as so many of them */
#define SPARE	    8u	  /* slots of a ring beyond its entries */

/* All under the objects lock. */
static struct cq *cqs;
static uint32_t next_slot;
static struct timer *looking; /* look_again() */
static bool look_is_due;
static bool peer_died; /* since it has looked */

/* The option complete:op=recv: a receive that succeeded is told otherwise. */
static void fail_receives(struct ibv_wc *wc, int count)
{
	for (int i = 0; i < count; i++) {
		if (wc[i].status != IBV_WC_SUCCESS || (wc[i].opcode & IBV_WC_RECV) == 0)
			continue;
		wc[i].status = fault_complete(SOFT_OP_RECV);
		if (wc[i].status != IBV_WC_SUCCESS)
			wc[i].vendor_err = VENDOR_FAULT;
	}
}

/*
 * On a NIC a program that spins delays no other; here what it waits for may
 * need the same core. Some microseconds are spun for nothing, then others are
 * let in now and then.
 */
static void found_nothing(unsigned int polls)
{
	static _Thread_local unsigned int times __attribute__((tls_model("initial-exec")));

	times += polls;
	if (times >= YIELD_EVERY) {
		times = 0;
		sched_yield();
	}
}

/* The CQ is empty. True: it is not any more, as answers over TCP have come. */
static __attribute__((noinline)) bool look_further(struct cq *cq)
{
	if (atomic_load_explicit(&tcp_unanswered, memory_order_relaxed) == 0) {
		found_nothing(1);
		return false;
	}
	tcp_poll();
	if (!completion_none(cq->shared))
		return true;
	found_nothing(LOOK_COST);
	return false;
}

static inline int take(struct cq *cq, int count, struct ibv_wc *wc)
{
	if (completion_none(cq->shared) && !look_further(cq))
		return 0;
	return completion_take(cq->shared, count, wc);
}

int cq_poll(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	if (atomic_load_explicit(&sq_waiting, memory_order_relaxed) != 0)
		sq_progress();
	return take(cq_of(ibv), count, wc);
}

/* Runs what waits: with checks alone by cq_check_poll(), and with the adversary by a step. */
static inline void progress(struct cq *cq)
{
	if (fault_any) {
		if (check_any)
			cq_check_poll(cq);
		if (adversary_any)
			sq_adversary_poll();
	}
	if ((fault_more || !check_any) &&
	    atomic_load_explicit(&sq_waiting, memory_order_relaxed) != 0)
		sq_progress();
}

int cq_poll_faulty(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	int fault = FAULT_CALL_AS("ibv_poll_cq");
	int polled;

	if (fault != 0)
		return call_failed(fault);
	progress(cq_of(ibv));
	polled = take(cq_of(ibv), count, wc);
	if (fault_more) {
		trace_polled(wc, polled);
		fail_receives(wc, polled);
	}
	if (check_any)
		cq_check_polled(cq_of(ibv), wc, polled);
	return polled;
}

int cq_poll_checked(struct ibv_cq *ibv, int count, struct ibv_wc *wc)
{
	int polled;

	cq_check_poll(cq_of(ibv));
	polled = take(cq_of(ibv), count, wc);
	cq_check_polled(cq_of(ibv), wc, polled);
	return polled;
}

bool cq_poll_one(struct cq *cq)
{
	progress(cq);
	if (completion_none(cq->shared) && !look_further(cq))
		return false;
	if (!completion_take_one(cq->shared, &cq->current, &cq->stamp_ns)) {
		found_nothing(1);
		return false;
	}
	if (fault_any) {
		trace_polled(&cq->current, 1);
		fail_receives(&cq->current, 1);
	}
	if (check_any)
		cq_check_polled(cq, &cq->current, 1);
	return true;
}

/* Armed for any it stays so. */
static void arm(struct cq *cq, uint32_t wanted)
{
	struct shared_cq *shared = cq->shared;
	const uint32_t head = atomic_load(&shared->head);
	uint32_t armed = atomic_load(&shared->armed);

	do {
		if (armed >= wanted)
			return;
		if (armed == ARM_NONE)
			atomic_store(&shared->held, 0);
	} while (!atomic_compare_exchange_weak(&shared->armed, &armed, wanted));
	atomic_store(&cq->head, head);
	if (armed == ARM_NONE)
		atomic_fetch_add(&cq->arms, 1);
}

int cq_arm(struct ibv_cq *ibv, int solicited_only)
{
	struct shared_cq *shared = cq_of(ibv)->shared;
	const uint32_t wanted = solicited_only ? ARM_SOLICITED : ARM_ANY;
	int fault = FAULT_CALL_AS("ibv_req_notify_cq");

	if (fault != 0)
		return call_error(fault);
	if (check_any)
		cq_check_armed(cq_of(ibv), solicited_only != 0);
	arm(cq_of(ibv), wanted);
	if (shared->channel_id != 0 && !completion_none(shared) &&
	    completion_front(shared) == COMPLETION_HOLE) {
		atomic_fetch_or(&shared->raise, RAISE_CQ_HOLE);
		agent_kick();
	}
	tcp_armed();
	if (atomic_load_explicit(&sq_waiting, memory_order_relaxed) != 0)
		sq_wait_armed();
	return 0;
}

static void look_again(void *unused);

/* Objects lock held. */
static void look_later(void)
{
	if (looking == NULL)
		looking = agent_timer_new(look_again, NULL);
	if (looking == NULL || look_is_due)
		return;
	look_is_due = true;
	agent_timer_set(looking, process_now_ns() + COMPLETION_PATIENCE_NS);
}

/*
 * A completion was being written when a CQ was armed, and those behind it had their events before:
 * a thread that sleeps gets one now, once the slot is passed over or counts. Or a peer has died,
 * who may have written one and not told of it yet.
 */
static void look_again(void *unused)
{
	bool holes = false, behind = false;

	(void)unused;
	pthread_mutex_lock(&process_objects);
	look_is_due = false;
	for (struct cq *cq = cqs; cq != NULL; cq = cq->next) {
		enum completion_front front = COMPLETION_NONE;
		bool owed;

		if (cq->channel == NULL)
			continue;
		if (!completion_none(cq->shared))
			front = completion_front(cq->shared);
		owed = cq->had_hole || (peer_died && completion_is_owed(cq->shared, cq->head));
		if (front == COMPLETION_READY && owed && completion_ring_late(cq->shared))
			peer_ring(process_current->self, cq->shared);
		if (peer_died)
			behind |= channel_catch_up(cq);
		cq->had_hole = front == COMPLETION_HOLE;
		holes |= cq->had_hole;
	}
	peer_died = peer_died && (holes || behind);
	if (holes || behind)
		look_later();
	pthread_mutex_unlock(&process_objects);
}

void cq_peer_gone(void)
{
	pthread_mutex_lock(&process_objects);
	peer_died = true;
	look_later();
	pthread_mutex_unlock(&process_objects);
}

static void raise_all(void)
{
	for (struct cq *cq = cqs; cq != NULL; cq = cq->next) {
		struct shared_cq *shared = cq->shared;
		uint32_t bits;

		if (atomic_load(&shared->raise) == 0)
			continue;
		bits = atomic_exchange(&shared->raise, 0);
		if ((bits & RAISE_CQ_OVERFLOW) != 0) {
			process_verbose("CQ %u overflows: more than %d completions wait to be "
					"polled",
					cq->index, cq->ibv.cqe);
			if (check_any)
				cq_check_overrun(cq);
			async_raise(context_of(cq->ibv.context), IBV_EVENT_CQ_ERR, cq);
		}
		if ((bits & RAISE_CQ_NOTIFY) != 0 && cq->channel != NULL)
			eventfd_write(cq->channel->ibv.fd, atomic_exchange(&shared->unrung, 0));
		if ((bits & RAISE_CQ_HELD) != 0)
			cq_moderation_begin(cq);
		if ((bits & RAISE_CQ_HOLE) != 0) {
			cq->had_hole = true;
			look_later();
		}
	}
}

/* Forgets the parent's CQs: their entries are in its segment. */
static void forget(void)
{
	cqs = NULL;
	next_slot = 0;
	looking = NULL;
	look_is_due = false;
	peer_died = false;
	cq_check_forget();
}

/* Events that a peer has raised and the agent has not seen yet are seen now. */
static void leave(void)
{
	if (!check_any || process_current == NULL)
		return;
	process_raise();
	pthread_mutex_lock(&process_objects);
	for (struct cq *cq = cqs; cq != NULL; cq = cq->next)
		cq_check_end(cq);
	pthread_mutex_unlock(&process_objects);
}

const struct process_part cq_part = {.raise = raise_all, .forked = forget, .leave = leave};

static struct shared_cq *claim_slot(struct segment *segment, uint32_t *index)
{
	for (uint32_t tried = 0; tried < SEGMENT_CQS; tried++) {
		*index = next_slot;
		next_slot = (next_slot + 1) % SEGMENT_CQS;
		if (atomic_load(&segment->cq[*index].live) == CQ_FREE)
			return &segment->cq[*index];
	}
	return NULL;
}

/* A few slots may be left by late writers. */
static uint32_t slots_for(uint32_t cqe)
{
	return power_of_two(cqe + SPARE);
}

/* Objects lock held. The CQ's own fields of the table entry, but for its lock, are reset. */
static int join_segment(struct cq *cq, bool stamped, bool may_overrun)
{
	const uint32_t cqe = (uint32_t)cq->ibv.cqe;
	struct segment *segment = process_current->segment;
	const uint32_t slots = slots_for(cqe);
	struct shared_cq *shared = claim_slot(segment, &cq->index);
	uint64_t offset;

	if (shared == NULL)
		return ENOMEM;
	offset = segment_alloc(slots * sizeof(struct shared_slot));
	if (offset == 0)
		return ENOMEM;
	memset(shared, 0, sizeof(*shared));
	shared_lock_init(&shared->lock);
	shared->slots = slots;
	shared->cqe = cqe;
	shared->stamped = stamped;
	shared->may_overrun = may_overrun;
	shared->offset = offset;
	if (cq->channel != NULL) {
		shared->channel_slot = cq->channel->slot;
		shared->channel_id = cq->channel->id;
	}
	atomic_store(&shared->room, cqe);
	atomic_store(&shared->live, CQ_LIVE);
	cq->shared = shared;
	return 0;
}

static void free_slot(uint32_t index)
{
	struct shared_cq *shared = &process_current->segment->cq[index];

	segment_free(shared->offset, shared->slots * sizeof(struct shared_slot));
	atomic_store(&shared->live, CQ_FREE);
}

void cq_let_go(uint32_t index)
{
	if (atomic_load(&process_current->segment->cq[index].live) == CQ_DYING)
		free_slot(index);
}

/* Its ring stays while a QP is held that may still push there. */
static void leave_segment(struct cq *cq)
{
	atomic_store(&cq->shared->live, CQ_DYING);
	atomic_store(&cq->shared->room, 0);
	if (!held_uses_cq(cq->index))
		free_slot(cq->index);
}

static int cq_begin(struct cq *cq, bool stamped, bool may_overrun)
{
	pthread_mutex_t *objects = &process_objects;
	int error;

	pthread_mutex_lock(objects);
	error = join_segment(cq, stamped, may_overrun);
	if (error == 0) {
		cq->next = cqs;
		cqs = cq;
		if (cq->channel != NULL)
			channel_add(cq->channel, cq);
	}
	pthread_mutex_unlock(objects);
	return error;
}

static void cq_delete(struct cq *cq)
{
	pthread_mutex_destroy(&cq->polling);
	pthread_mutex_destroy(&cq->ibv.mutex);
	pthread_cond_destroy(&cq->ibv.cond);
	objects_free(cq);
}

static void fill(struct cq *cq, struct context *context, const struct ibv_cq_init_attr_ex *attr)
{
	cq->generation = context->generation;
	cq->channel = (struct channel *)attr->channel;
	cq->ibv.context = &context->verbs.context;
	cq->ibv.channel = attr->channel;
	cq->ibv.cq_context = attr->cq_context;
	cq->ibv.cqe = (int)attr->cqe;
	pthread_mutex_init(&cq->ibv.mutex, NULL);
	pthread_cond_init(&cq->ibv.cond, NULL);
	pthread_mutex_init(&cq->polling, NULL);
}

static int check(const char *call, struct ibv_context *ibv, const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->cqe < 1 || attr->cqe > SOFT_MAX_CQE)
		return REFUSE(EINVAL, call, "%d entries, expected 1 to %d", (int)attr->cqe,
			      SOFT_MAX_CQE);
	if (attr->comp_vector >= (uint32_t)ibv->num_comp_vectors)
		return REFUSE(EINVAL, call, "completion vector %d, expected 0 to %d",
			      (int)attr->comp_vector, ibv->num_comp_vectors - 1);
	if (attr->channel != NULL && attr->channel->context != ibv)
		return REFUSE(EINVAL, call, "its channel is of another context");
	return 0;
}

struct cq *cq_make(const char *call, struct context *context,
		   const struct ibv_cq_init_attr_ex *attr, bool stamped, bool may_overrun)
{
	int error = check(call, &context->verbs.context, attr);
	struct cq *cq;

	if (error != 0)
		return call_failed_null(error);
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return NULL;
	fill(cq, context, attr);
	error = cq_begin(cq, stamped, may_overrun);
	if (error != 0) {
		cq_delete(cq);
		return call_failed_null(REFUSE(error, call,
					       "no memory for %u entries, or %d CQs exist",
					       attr->cqe, SEGMENT_CQS));
	}
	cq->ibv.handle = cq->index;
	objects_made(OBJECT_CQ, &cq->ibv, cq->index);
	atomic_fetch_add(&context->users, 1);
	return cq;
}

SOFT_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *ibv, int cqe, void *cq_context,
					 struct ibv_comp_channel *channel, int comp_vector)
{
	/* numbers below 0 are out of range as they are */
	const struct ibv_cq_init_attr_ex attr = {.cqe = (uint32_t)cqe,
						 .cq_context = cq_context,
						 .channel = channel,
						 .comp_vector = (uint32_t)comp_vector};
	struct context *context = context_of(ibv);
	struct cq *cq;

	ENTER_NULL(context->generation);
	cq = cq_make("ibv_create_cq", context, &attr, false, false);
	return cq == NULL ? NULL : &cq->ibv;
}

/*
 * Copies what is in the ring; nothing is pushed meanwhile, so what does not count now is of a
 * writer that is dead. Their number is *left. False: it does not fit.
 */
static bool copy_ring(struct shared_cq *shared, uint64_t made, uint32_t slots, uint32_t cqe,
		      uint32_t *left)
{
	struct segment *segment = process_current->segment;
	const struct shared_slot *from = completion_ring(segment, shared);
	struct shared_slot *to = segment_at(segment, made);
	const uint32_t head = atomic_load(&shared->head), tail = atomic_load(&shared->tail);

	*left = 0;
	if (head - tail > slots)
		return false;
	for (uint32_t at = tail; at != head; at++) {
		to[at & (slots - 1)] = from[at & (shared->slots - 1)];
		*left += completion_skip(&to[at & (slots - 1)], at);
	}
	return head - tail - *left <= cqe;
}

static const char resize_cq[] = "ibv_resize_cq";

/* The objects lock is held. */
static int resize(struct cq *cq, uint32_t cqe)
{
	struct shared_cq *shared = cq->shared;
	const uint32_t slots = slots_for(cqe), old_slots = shared->slots;
	const uint64_t made = segment_alloc(slots * sizeof(struct shared_slot));
	const uint64_t old = shared->offset;
	uint32_t left;
	bool fits;

	if (made == 0)
		return REFUSE_OF(ENOMEM, resize_cq, "CQ %u: no memory for %u entries", cq->index,
				 cqe);
	if (held_uses_cq(cq->index) || !qp_stop_pushes(cq)) {
		segment_free(made, slots * sizeof(struct shared_slot));
		return REFUSE_OF(EBUSY, resize_cq,
				 "CQ %u: a process that is stopped may push there", cq->index);
	}
	shared_lock_take(&shared->lock);
	fits = copy_ring(shared, made, slots, cqe, &left);
	if (fits) {
		shared->offset = made;
		shared->slots = slots;
		shared->cqe = cqe;
		atomic_store(&shared->left, left);
		if (atomic_load(&shared->room) != 0)
			atomic_store(&shared->room, cqe + left < slots ? cqe + left : slots);
	}
	shared_lock_release(&shared->lock);
	qp_resume_pushes(cq);
	segment_free(fits ? old : made, (fits ? old_slots : slots) * sizeof(struct shared_slot));
	return fits ? 0
		    : REFUSE_OF(EINVAL, resize_cq, "CQ %u: more than %u completions are in it",
				cq->index, cqe);
}

SOFT_EXPORT int ibv_resize_cq(struct ibv_cq *ibv, int cqe)
{
	struct cq *cq = cq_of(ibv);
	int error;

	ENTER(cq->generation);
	if (cqe < 1 || cqe > SOFT_MAX_CQE)
		return REFUSE_OF(EINVAL, resize_cq, "CQ %u: %d entries, expected 1 to %d",
				 cq->index, cqe, SOFT_MAX_CQE);
	pthread_mutex_lock(&process_objects);
	error = resize(cq, (uint32_t)cqe);
	pthread_mutex_unlock(&process_objects);
	if (error == 0)
		ibv->cqe = cqe;
	return error;
}

static void leave_lists(struct cq *cq)
{
	LIST_TAKE_OUT(cqs, cq, next);
	if (cq->channel != NULL)
		channel_remove(cq->channel, cq);
}

/* Every event that the program took from the channel is to be acknowledged. */
static void wait_acknowledged(struct cq *cq)
{
	struct check_wait wait = {"ibv_destroy_cq", &cq->ibv, 0};

	pthread_mutex_lock(&cq->ibv.mutex);
	while (cq->ibv.comp_events_completed != cq->events_got)
		check_wait(&wait, &cq->ibv.cond, &cq->ibv.mutex,
			   cq->events_got - cq->ibv.comp_events_completed);
	pthread_mutex_unlock(&cq->ibv.mutex);
	check_wait_end(&wait);
}

SOFT_EXPORT int ibv_destroy_cq(struct ibv_cq *ibv)
{
	struct cq *cq = cq_of(ibv);

	if (OBJECT_IS_GONE(OBJECT_CQ, ibv))
		return call_error(EINVAL);
	ENTER(cq->generation);
	if (atomic_load(&cq->users) != 0)
		return REFUSE_OF(EBUSY, "ibv_destroy_cq", "CQ %u: QPs use it", cq->index);
	cq_moderation_end(cq);
	if (check_any)
		cq_check_end(cq);
	pthread_mutex_lock(&process_objects);
	leave_lists(cq);
	leave_segment(cq);
	pthread_mutex_unlock(&process_objects);
	async_settle(context_of(ibv->context), cq);
	wait_acknowledged(cq);
	atomic_fetch_sub(&context_of(ibv->context)->users, 1);
	if (cq->parent_domain != NULL)
		atomic_fetch_sub(&cq->parent_domain->users, 1);
	objects_gone(OBJECT_CQ, ibv);
	cq_delete(cq);
	return 0;
}
