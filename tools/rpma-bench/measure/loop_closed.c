/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_closed.c -- the closed loop: each queue pair keeps its depth of operations
 * in flight, so a new one begins when an old one is done; in batches, a new
 * batch when as many old ones are.
 */
#include "loop_core.h"

/* Operations of a batch that are neither signalled nor its last. */
static __always_inline int post_silently(struct loop *l, struct inflight *r, uint32_t count)
{
	const struct operation *operation = l->cfg->operation;
	const uint32_t depth = l->cfg->depth;
	uint32_t slot = r->post_slot;

	for (uint32_t i = 0; i < count; i++) {
		int ret = operation->post(r->qp, slot, RPMA_F_COMPLETION_ON_ERROR | RPMA_F_MORE);

		if (__builtin_expect(ret != 0, 0))
			return measure_post_failed(r, operation, ret);
		slot = slot + 1 == depth ? 0 : slot + 1;
	}
	r->post_slot = slot;
	r->posted += count;
	r->unsignaled += count;
	return 0;
}

/* All of them share one doorbell. */
static __always_inline int post_batch(struct loop *l, struct inflight *r, uint64_t count,
				      bool plain)
{
	const uint64_t unsignaled = l->cfg->signal_every - 1 - r->unsignaled;
	uint64_t silent = plain ? count - 1 : 0;
	int ret;

	silent = silent < unsignaled ? silent : unsignaled;
	ret = post_silently(l, r, (uint32_t)silent);
	for (count -= silent; ret == 0 && count > 1; count--)
		ret = measure_post(l, r, plain, RPMA_F_MORE);
	return ret ? ret : measure_post(l, r, plain, 0);
}

/* A partial batch is posted only at the end. */
static __always_inline int fill_batches(struct loop *l, struct inflight *r, uint64_t until,
					bool plain)
{
	const uint64_t batch = l->cfg->batch;
	int ret = 0;

	while (ret == 0 && until - r->posted >= batch)
		ret = post_batch(l, r, batch, plain);
	if (ret == 0 && until == r->limit && r->posted < until)
		ret = post_batch(l, r, until - r->posted, plain);
	return ret;
}

static __always_inline int fill(struct loop *l, struct inflight *r, bool plain, bool batched)
{
	uint64_t until = r->done + l->cfg->depth;
	int ret = 0;

	until = until < r->limit ? until : r->limit;
	if (batched)
		return fill_batches(l, r, until, plain);
	while (ret == 0 && r->posted < until)
		ret = measure_post(l, r, plain, 0);
	return ret;
}

/* Polls a queue pair once, and posts what it has room for. Gives as measure_poll(). */
static __always_inline int turn(struct loop *l, struct inflight *r, bool plain, bool batched)
{
	int got = measure_poll(l, r, plain), ret;

	if (got <= 0)
		return got;
	ret = fill(l, r, plain, batched);
	return ret ? ret : got;
}

static int nothing_came(struct loop *l, unsigned empty)
{
	if (l->cfg->completion == BENCH_EVENT)
		return measure_wait(l, MEASURE_WINDOW_NS);
	return empty % MEASURE_EMPTY_POLLS == 0 ? measure_check_progress(l) : 0;
}

static __always_inline int run(struct loop *l, bool plain, bool batched)
{
	struct inflight *inflight = l->inflight, *end = inflight + l->cfg->qps_count, *r;
	unsigned empty = 0;
	bool busy = true;
	int ret = 0;

	for (r = inflight; r < end && ret == 0; r++)
		ret = fill(l, r, plain, batched);
	while (busy && ret == 0) {
		int got = 0;

		busy = false;
		for (r = inflight; r < end && ret >= 0; r++) {
			if (measure_in_flight(r) == 0)
				continue;
			ret = turn(l, r, plain, batched);
			got += ret;
			busy |= measure_in_flight(r) > 0;
		}
		if (ret < 0)
			break;
		empty = got > 0 ? 0 : empty + 1;
		ret = got > 0 || !busy ? 0 : nothing_came(l, empty);
	}
	return ret;
}

int measure_closed(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;
	const bool plain = cfg->reads == NULL && !cfg->operation->answered;

	if (cfg->batch > 1)
		return plain ? run(l, true, true) : run(l, false, true);
	return plain ? run(l, true, false) : run(l, false, false);
}
