/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_wait.c -- what the loops do when completions stay away: sleep until
 * one arrives, or ask whether the peer is still there. And the error messages of
 * what can go wrong.
 */
#include "loop_core.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base/failure.h"
#include "common/base/monotonic.h"

int measure_post_failed(const struct inflight *r, const struct operation *operation, int ret)
{
	return librpma_failed(ret, "measure", "posting a %s of %" PRIu64 " bytes to %s failed: %s",
			      params_ops[operation->op], r->qp->size_bytes,
			      connection_peer_name(r->qp->connection), connection_cause(ret));
}

int measure_poll_failed(const struct inflight *r, int ret)
{
	return librpma_failed(ret, "measure", "%s: polling for completions failed: %s",
			      connection_peer_name(r->qp->connection), connection_cause(ret));
}

int measure_refused(const struct loop *l, const struct inflight *r, const char *why)
{
	return failure_set(EXIT_RUN_FAILED, "measure", "a %s of %" PRIu64 " bytes to %s failed: %s",
			   params_ops[l->cfg->operation->op], r->qp->size_bytes,
			   connection_peer_name(r->qp->connection), why);
}

int measure_completion_failed(const struct loop *l, const struct inflight *r,
			      const struct ibv_wc *wc)
{
	char what[CONNECTION_PEER_MAX + 64];

	if (wc->status == IBV_WC_LOC_LEN_ERR)
		return measure_refused(l, r,
				       "LOC_LEN_ERR: that is more than the RDMA device takes in "
				       "one message (the software device takes 8 MiB)");
	snprintf(what, sizeof(what), "a %s of %" PRIu64 " bytes to %s",
		 params_ops[l->cfg->operation->op], r->qp->size_bytes,
		 connection_peer_name(r->qp->connection));
	return connection_work_failed(r->qp->connection, "measure", what, wc);
}

/* The last sign of life: a completion, or the post of the oldest in flight. */
static uint64_t quiet_since(const struct loop *l)
{
	uint64_t oldest = UINT64_MAX;

	if (l->cfg->period_ns <= 0)
		return l->last;
	for (uint32_t i = 0; i < l->cfg->qps_count; i++) {
		const struct inflight *r = &l->inflight[i];

		if (measure_in_flight(r) > 0 && r->begun[r->done_slot] < oldest)
			oldest = r->begun[r->done_slot];
	}
	return oldest > l->last ? oldest : l->last;
}

static int stalled(const struct inflight *r)
{
	return failure_because(CAUSE_NO_ANSWER, EXIT_RUN_FAILED, "measure",
			       "%s: no completion within %d s",
			       connection_peer_name(r->qp->connection), MEASURE_STALL_MS / 1000);
}

int measure_check_progress(struct loop *l)
{
	uint64_t now = clock_now(l->cfg->clock), since = quiet_since(l);
	uint64_t waited_ns = now > since ? clock_ns(l->cfg->clock, now - since) : 0;

	if (waited_ns <= MEASURE_WINDOW_NS)
		return 0;
	for (uint32_t i = 0; i < l->cfg->qps_count; i++) {
		const struct inflight *r = &l->inflight[i];

		if (!connection_alive(r->qp->connection, 0))
			return -EIO;
		if (waited_ns > MEASURE_STALL_MS * 1000000ULL && measure_in_flight(r) > 0)
			return stalled(r);
	}
	return 0;
}

/*
 * Sleeps until a queue pair has a completion to show, for the time given at most.
 * The caller polls all queue pairs before it waits again: what arrives after a queue
 * was armed here makes its descriptor readable, what arrived before is polled.
 */
int measure_wait(struct loop *l, uint64_t timeout_ns)
{
	const struct timespec timeout = timespec_of_ns(timeout_ns);
	uint32_t qps = l->cfg->qps_count;
	int ready, ret = 0;

	for (uint32_t i = 0; i < qps; i++)
		l->fds[i] = (struct pollfd){l->inflight[i].qp->cq_fd, POLLIN, 0};
	ready = ppoll(l->fds, qps, &timeout, NULL);
	if (ready < 0 && errno != EINTR)
		return failure_set(EXIT_RUN_FAILED, "measure", "cannot wait for completions: %s",
				   strerror(errno));
	if (ready <= 0)
		return measure_check_progress(l);
	for (uint32_t i = 0; i < qps && ret == 0; i++) {
		if (l->fds[i].revents != 0)
			ret = rpma_cq_wait(l->inflight[i].qp->cq);
		if (ret)
			return measure_poll_failed(&l->inflight[i], ret);
	}
	return 0;
}
