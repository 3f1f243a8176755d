/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.c -- post, poll, stamp: the closed loop all figures come from.
 *
 * Completions of one connection arrive in the order of their posts, so slots
 * are used in turn and two counters say what is in flight. A sample spans
 * from right before the post to right after the poll that saw its completion;
 * recording and the look at the time lie outside of it.
 */
#include "measure.h"

#include <inttypes.h>

#include "../common/cli.h"
#include "../common/failure.h"

#define BATCH 16
/* polls without a completion before the time is looked at */
#define EMPTY_POLLS 4096

struct loop {
	const struct measure_cfg *cfg;
	struct rpma_cq *cq;
	uint64_t posted_ops;
	uint64_t done_ops;
	uint32_t post_slot;
	uint32_t done_slot;
	uint64_t begin;
	uint64_t last;	   /* stamp of the last completions */
	uint64_t end;	   /* stop posting at this stamp */
	uint64_t hard_end; /* even without min_ops */
	uint64_t window_end;
	uint64_t window_ticks;
	uint64_t window_ops; /* done_ops when the window began */
	bool stopping;
	struct measured *out;
};

static int post_failed(const struct loop *l, int ret)
{
	return failure_set(EXIT_RUN_FAILED, "measure",
			   "posting a %s of %" PRIu64 " bytes to %s failed: %s",
			   options_ops[l->cfg->operation->op], l->cfg->lane->size_bytes,
			   link_peer_name(l->cfg->link), link_cause(ret));
}

/* A vanished peer is the better sentence, if it was one. */
static int completion_failed(const struct loop *l, const struct ibv_wc *wc)
{
	if (!link_alive(l->cfg->link, 1000))
		return -EIO;
	return failure_set(EXIT_RUN_FAILED, "measure", "a %s of %" PRIu64 " bytes to %s failed: %s",
			   options_ops[l->cfg->operation->op], l->cfg->lane->size_bytes,
			   link_peer_name(l->cfg->link), link_wc_status_name(wc->status));
}

static int stalled(const struct loop *l)
{
	return failure_set(EXIT_RUN_FAILED, "measure", "%s: no completion within %d s",
			   link_peer_name(l->cfg->link), MEASURE_STALL_MS / 1000);
}

static inline int fill(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;

	while (l->posted_ops - l->done_ops < cfg->depth) {
		int ret;

		cfg->posted[l->post_slot] = clock_now(cfg->clock);
		ret = cfg->operation->post(cfg->lane, l->post_slot);
		if (__builtin_expect(ret != 0, 0))
			return post_failed(l, ret);
		l->posted_ops++;
		if (++l->post_slot == cfg->depth)
			l->post_slot = 0;
	}
	return 0;
}

static inline int take(struct loop *l, const struct ibv_wc *wc, uint64_t now)
{
	const struct measure_cfg *cfg = l->cfg;

	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		return completion_failed(l, wc);
	if (cfg->latency != NULL)
		histogram_record(cfg->latency,
				 clock_ns(cfg->clock, now - cfg->posted[l->done_slot]));
	l->done_ops++;
	if (++l->done_slot == cfg->depth)
		l->done_slot = 0;
	return 0;
}

/* Keeps the last MEASURE_WINDOWS windows. */
static void close_window(struct loop *l, uint64_t now)
{
	struct measured *m = l->out;

	if (m->windows_used == MEASURE_WINDOWS) {
		for (unsigned i = 1; i < MEASURE_WINDOWS; i++)
			m->windows[i - 1] = m->windows[i];
		m->windows_used--;
	}
	/* operations per window, though the window ended late */
	m->windows[m->windows_used++] = (double)(l->done_ops - l->window_ops) *
					(double)l->window_ticks /
					(double)(now - l->window_end + l->window_ticks);
	l->window_ops = l->done_ops;
	l->window_end = now + l->window_ticks;
}

static inline void look_at_time(struct loop *l, uint64_t now)
{
	if (__builtin_expect(now >= l->window_end, 0))
		close_window(l, now);
	if (__builtin_expect(now >= l->end, 0) &&
	    (l->done_ops >= l->cfg->min_ops || now >= l->hard_end))
		l->stopping = true;
	if (__builtin_expect(cli_signal != 0, 0)) {
		l->stopping = true;
		l->out->interrupted = true;
	}
}

/* Completions stay away: is the peer still there, and for how long now? */
static int look_around(struct loop *l)
{
	uint64_t waited_ns = clock_ns(l->cfg->clock, clock_now(l->cfg->clock) - l->last);

	if (waited_ns > MEASURE_WINDOW_NS && !link_alive(l->cfg->link, 0))
		return -EIO;
	return waited_ns > MEASURE_STALL_MS * 1000000ULL ? stalled(l) : 0;
}

static int post_and_poll(struct loop *l)
{
	struct ibv_wc wc[BATCH];
	unsigned empty = 0;
	int ret = fill(l);

	while (ret == 0 && l->done_ops < l->posted_ops) {
		int got = 0;

		ret = rpma_cq_get_wc(l->cq, BATCH, wc, &got);
		if (ret == RPMA_E_NO_COMPLETION) {
			ret = ++empty % EMPTY_POLLS == 0 ? look_around(l) : 0;
			continue;
		}
		if (ret != 0)
			return post_failed(l, ret);
		empty = 0;
		l->last = clock_now(l->cfg->clock);
		for (int i = 0; i < got && ret == 0; i++)
			ret = take(l, &wc[i], l->last);
		l->out->native_flush = wc[got - 1].opcode != IBV_WC_RDMA_READ;
		look_at_time(l, l->last);
		if (ret == 0 && !l->stopping)
			ret = fill(l);
	}
	return ret;
}

int measure_run(const struct measure_cfg *cfg, struct measured *measured)
{
	struct loop l = {.cfg = cfg, .cq = link_cq(cfg->link), .out = measured};
	int ret;

	*measured = (struct measured){0};
	l.begin = clock_now(cfg->clock);
	l.last = l.begin;
	l.end = l.begin + clock_ticks(cfg->clock, cfg->duration_ns);
	l.hard_end = l.begin + clock_ticks(cfg->clock, cfg->limit_ns);
	l.window_ticks = clock_ticks(cfg->clock, MEASURE_WINDOW_NS);
	l.window_end = l.begin + l.window_ticks;
	ret = post_and_poll(&l);
	measured->ops = l.done_ops;
	measured->elapsed_ns = clock_ns(cfg->clock, l.last - l.begin);
	measured->native_flush = measured->native_flush && cfg->operation->flushes;
	return ret;
}
