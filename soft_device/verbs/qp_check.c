/* SPDX-License-Identifier: BSD-3-Clause */
/* qp_check.c -- see qp_check.h. */
#include "qp_check.h"

#include <errno.h>

#include "cq_check.h"
#include "soft_device/check/objects.h"
#include "soft_device/check/watch.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/process/names.h"
#include "soft_device/process/process.h"

/* --- receives --- */

/* A receive queue, of a QP or an SRQ. */
struct queue {
	const void *object;
	const char *call;
	const char *type;
	uint32_t number;
	const struct shared_ring *ring;
};

/* A program may post until there is no room: the queue has all that it takes, and serves. */
static void hold_full(const struct queue *queue)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;

	check_find(&finding, CHECK_RQ_FULL, stack,
		   "the receive queue of %s %#x is full: %u are posted", queue->type, queue->number,
		   queue->ring->max_wr);
	check_line(&finding, "granted", "%u receives", queue->ring->max_wr);
	check_place(&finding, "posted at", stack);
	check_hold_on(&(struct check_terms){.queue = queue->object, .counter = &queue->ring->tail},
		      &finding);
}

static void tell_receive(const struct queue *queue, enum check_kind kind, const char *what)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;

	check_find(&finding, kind, stack, "%s of %s %#x: %s", queue->call, queue->type,
		   queue->number, what);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

static void tell_pieces(const struct queue *queue, int pieces)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;

	check_find(&finding, CHECK_TOO_MANY_SGES, stack,
		   "a receive has %d pieces, and %s %#x was granted %u", pieces, queue->type,
		   queue->number, queue->ring->max_sge);
	check_place(&finding, "posted at", stack);
	check_report(&finding);
}

static void check_receive(const struct queue *queue, const struct ibv_recv_wr *bad, int error)
{
	if (error == 0) {
		if (atomic_load_explicit(&check_held, memory_order_relaxed) > 0)
			check_drop(queue->object, CHECK_RQ_FULL, 0);
	} else if (error == ENOMEM) {
		hold_full(queue);
	} else if (bad != NULL && bad->num_sge > 0 &&
		   (uint32_t)bad->num_sge > queue->ring->max_sge) {
		tell_pieces(queue, bad->num_sge);
	}
}

void qp_check_receives(const struct qp *qp, const struct ibv_recv_wr *list, uint32_t stack)
{
	if (qp->srq == NULL && qp->shared->rq.slots != 0)
		sq_check_receives(&qp->shared->rq, list, stack, qp->ibv.qp_num);
}

void qp_check_srq_receives(const struct srq *srq, const struct ibv_recv_wr *list, uint32_t stack)
{
	sq_check_receives(&srq->shared->rq, list, stack, 0);
}

void qp_check_receive(struct qp *qp, const struct ibv_recv_wr *bad, int error)
{
	const struct queue queue = {qp, "ibv_post_recv", "QP", qp->ibv.qp_num, &qp->shared->rq};

	if (qp->srq != NULL)
		return;
	if (error != 0)
		watch_forget(queue.ring); /* the memory of those that were not posted */
	if (error != 0 && qp_state(qp) == IBV_QPS_RESET)
		tell_receive(&queue, CHECK_POST_IN_STATE, "it is in RESET");
	else
		check_receive(&queue, bad, error);
}

void qp_check_srq_receive(struct srq *srq, const struct ibv_recv_wr *bad, int error)
{
	const struct queue queue = {srq, "ibv_post_srq_recv", "SRQ", srq->index, &srq->shared->rq};

	if (error != 0)
		watch_forget(queue.ring);
	check_receive(&queue, bad, error);
}

/* --- queue pairs --- */

struct sum {
	const struct cq *cq;
	uint64_t entries;
};

static void add(struct qp *qp, const void *arg)
{
	struct sum *const sum = (struct sum *)(uintptr_t)arg;

	if (qp->send_cq == sum->cq)
		sum->entries += qp->sq.max_wr;
	if (qp->recv_cq == sum->cq)
		sum->entries +=
			qp->srq != NULL ? qp->srq->shared->rq.max_wr : qp->shared->rq.max_wr;
}

uint64_t qp_check_sum(const struct cq *cq)
{
	struct sum sum = {cq, 0};

	qp_each(add, &sum);
	return sum.entries;
}

static void check_room(const struct cq *cq, const struct qp *qp)
{
	const uint32_t stack = stack_here();
	struct check_finding finding;
	uint64_t entries;

	pthread_mutex_lock(&process_objects);
	entries = qp_check_sum(cq);
	pthread_mutex_unlock(&process_objects);
	if (entries <= (uint64_t)cq->ibv.cqe)
		return;
	check_find(&finding, CHECK_CQ_TOO_SMALL, stack,
		   "CQ %u has %d entries, and the queues that complete into it %llu", cq->index,
		   cq->ibv.cqe, (unsigned long long)entries);
	check_line(&finding, "queue pair", "QP %#x: max_send_wr %u, max_recv_wr %u", qp->ibv.qp_num,
		   qp->sq.max_wr, qp->shared->rq.max_wr);
	check_place(&finding, "created at", stack);
	check_report(&finding);
}

void qp_check_room(const struct qp *qp)
{
	if (!check_wants(CHECK_CQ_TOO_SMALL))
		return;
	check_room(qp->send_cq, qp);
	if (qp->recv_cq != qp->send_cq)
		check_room(qp->recv_cq, qp);
}

/* Can anything still complete into a CQ? */
struct feed {
	const struct cq *cq;
	bool is_fed;	/* a completion may come */
	bool is_silent; /* requests were posted, and none of them gives a completion */
};

static void look_at_feed(struct qp *qp, const void *arg)
{
	struct feed *const feed = (struct feed *)(uintptr_t)arg;
	const struct shared_ring *ring = qp->srq != NULL ? &qp->srq->shared->rq : &qp->shared->rq;

	if (qp->recv_cq == feed->cq && atomic_load(&ring->head) != atomic_load(&ring->tail))
		feed->is_fed = true;
	if (qp->send_cq == feed->cq) {
		const enum sq_check_feed of_queue = sq_check_feeds(&qp->sq);

		feed->is_fed |= of_queue == FEED_COMPLETION;
		feed->is_silent |= of_queue == FEED_NOTHING;
	}
}

bool qp_check_feeds_nothing(const struct cq *cq)
{
	struct feed feed = {cq, false, false};

	pthread_mutex_lock(&process_objects);
	qp_each(look_at_feed, &feed);
	pthread_mutex_unlock(&process_objects);
	return feed.is_silent && !feed.is_fed;
}

struct polls {
	const struct cq *cq;
	uint32_t count;
};

static void add_polls(struct qp *qp, const void *arg)
{
	struct polls *const polls = (struct polls *)(uintptr_t)arg;

	if (qp->send_cq != polls->cq)
		polls->count += atomic_load(&qp->send_cq->polls);
	if (qp->recv_cq != polls->cq)
		polls->count += atomic_load(&qp->recv_cq->polls);
}

uint32_t qp_check_polls_of_others(const struct cq *cq)
{
	struct polls polls = {cq, 0};

	pthread_mutex_lock(&process_objects);
	qp_each(add_polls, &polls);
	pthread_mutex_unlock(&process_objects);
	return polls.count;
}

void qp_check_state(struct qp *qp, enum ibv_qp_state to)
{
	if (to == IBV_QPS_RTS)
		return;
	sq_check_run(&qp->sq);
	if (to == IBV_QPS_ERR)
		check_release(qp); /* what is flushed was taken by no message */
	if (to == IBV_QPS_ERR || to == IBV_QPS_RESET)
		sq_check_known(&qp->sq);
	if (to == IBV_QPS_RESET) { /* nothing of it completes any more */
		watch_forget(&qp->sq);
		watch_forget(&qp->shared->rq);
	}
}

void qp_check_before_end(struct qp *qp)
{
	sq_check_run(&qp->sq);
	cq_check_end_of_some(qp->send_cq);
	if (qp->recv_cq != qp->send_cq)
		cq_check_end_of_some(qp->recv_cq);
}

void qp_check_end(struct qp *qp)
{
	sq_check_end(&qp->sq);
	sq_check_ring_end(&qp->shared->rq);
	check_release(qp);
}

/* --- regions --- */

static struct object region_of(const struct mr *mr)
{
	const struct shared_mr *shared = mr->shared;

	return (struct object){
		.type = OBJECT_MR,
		.handle = &mr->ibv,
		.number = mr->ibv.rkey,
		.made_at = stack_here(),
		.pd = shared->pd & ~(MR_UNMAPPED | MR_WINDOW),
		.access = shared->access,
		.addr = shared->iova,
		.length = shared->length,
		.memory = shared->addr,
	};
}

void qp_check_region(const struct mr *mr)
{
	const struct object region = region_of(mr);

	objects_add(&region);
}

void qp_check_region_changed(const struct mr *mr)
{
	const struct object region = region_of(mr);

	objects_change(&region);
}

static void check_use(struct qp *qp, const void *arg)
{
	const uint32_t *key = arg;

	if (sq_check_uses(&qp->sq, *key))
		sq_check_run(&qp->sq); /* it is reported: the rest goes on as on a fast device */
}

void qp_check_in_flight(uint32_t key)
{
	const struct shared_mr *mr = &process_current->segment->mr[key >> 8];

	pthread_mutex_lock(&process_objects);
	qp_each(check_use, &key);
	pthread_mutex_unlock(&process_objects);
	if ((mr->access & MR_NULL) == 0)
		watch_forget_memory(mr->addr, mr->length);
}

/* It becomes a fault if the memory is used. */
void qp_check_unmapped(uint32_t key, bool is_freed)
{
	objects_unmapped(key, stack_here(), is_freed);
}
