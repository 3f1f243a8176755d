/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_check.c -- marks in a program that name a queue pair: what it takes for durable that it
 * wrote to a peer over it, as it has seen the flush complete, and the word with which it is about
 * to commit that. See powerfail/durable.c.
 *
 * The journal is in the segment of the peer, so nothing is told of one on another host.
 */
#include <unistd.h>

#include "qp.h"
#include "soft_device/check/check.h"
#include "soft_device/datapath/sq_check.h"
#include "soft_device/powerfail/durable.h"
#include "soft_device/process/process.h"

void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length);
void rpma_soft_commit_word(uint32_t qp_num, uint64_t word, uint64_t data, size_t length);

struct durable_query {
	struct durable_claim claim;
	struct journal_line first;
	uint32_t lines;
};

struct commit_mark {
	uint32_t qpn;
	uint64_t word;
	uint64_t data;
	uint64_t length;
};

/* Calls of a child of fork() are not for the queue pairs of its parent. */
static void each_own(void (*call)(struct qp *qp, const void *arg), const void *arg)
{
	if (process_current == NULL || process_current->segment == NULL ||
	    process_current->segment->pid != getpid())
		return;
	pthread_mutex_lock(&process_objects);
	qp_each(call, arg);
	pthread_mutex_unlock(&process_objects);
}

static void query_peer(struct qp *qp, const void *arg)
{
	struct durable_query *const query = (struct durable_query *)(uintptr_t)arg;

	if (qp->ibv.qp_num != query->claim.qpn)
		return;
	query->claim.peer_qpn = qp->attr.dest_qp_num;
	shared_lock_take(&qp->sq.lock);
	if (qp->sq.peer != NULL)
		query->lines = durable_lacking(qp->sq.peer, &query->claim, &query->first);
	shared_lock_release(&qp->sq.lock);
}

SOFT_EXPORT void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length)
{
	struct durable_query query = {.claim = {.addr = addr, .length = length, .qpn = qp_num}};

	if (!check_any || length == 0)
		return;
	each_own(query_peer, &query);
	if (query.lines > 0)
		durable_report(&query.claim, &query.first, query.lines);
}

static void mark_word(struct qp *qp, const void *arg)
{
	const struct commit_mark *const mark = arg;

	if (qp->ibv.qp_num == mark->qpn)
		sq_check_commit(&qp->sq, mark->word, mark->data, mark->length);
}

SOFT_EXPORT void rpma_soft_commit_word(uint32_t qp_num, uint64_t word, uint64_t data, size_t length)
{
	const struct commit_mark mark = {qp_num, word, data, length};

	if (check_any)
		each_own(mark_word, &mark);
}
