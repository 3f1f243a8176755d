/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * durable_check.c -- a mark in a program: it takes what it wrote to these bytes of a peer, over
 * this queue pair, for durable, as it has seen the flush complete. See powerfail/durable.c.
 *
 * The journal is in the segment of the peer, so nothing is told of one on another host.
 */
#include <unistd.h>

#include "qp.h"
#include "soft_device/check/check.h"
#include "soft_device/powerfail/durable.h"
#include "soft_device/process/process.h"

void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length);

struct look {
	struct durable_claim claim;
	struct journal_line first;
	uint32_t lines;
};

static void look_at(struct qp *qp, const void *arg)
{
	struct look *const look = (struct look *)(uintptr_t)arg;

	if (qp->ibv.qp_num != look->claim.qpn)
		return;
	look->claim.peer_qpn = qp->attr.dest_qp_num;
	shared_lock_take(&qp->sq.lock);
	if (qp->sq.peer != NULL)
		look->lines = durable_lacking(qp->sq.peer, &look->claim, &look->first);
	shared_lock_release(&qp->sq.lock);
}

SOFT_EXPORT void rpma_soft_durable_at_peer(uint32_t qp_num, uint64_t addr, size_t length)
{
	struct look look = {.claim = {addr, length, qp_num, 0}};

	if (!check_any || length == 0 || process_current == NULL ||
	    process_current->segment == NULL || process_current->segment->pid != getpid())
		return;
	pthread_mutex_lock(&process_objects);
	qp_each(look_at, &look);
	pthread_mutex_unlock(&process_objects);
	if (look.lines > 0)
		durable_report(&look.claim, &look.first, look.lines);
}
