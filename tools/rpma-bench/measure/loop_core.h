/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop_core.h -- what the measuring loops share: post, poll, stamp.
 *
 * Work requests of one queue pair complete in the order of their posts, so the
 * slots of a queue pair are used in turn and two counters say what is in flight. A
 * sample spans from right before the post to right after the poll that saw
 * its completion; recording and the look at the time lie outside of it.
 */
#pragma once

#include <poll.h>

#include "arrivals.h"
#include "loop.h"
#include "names/random.h"

#define MEASURE_WC_MAX 16
#define MEASURE_COUNTS 65536 /* ticks: some 20 us */
/* polls without a completion before the time is looked at */
#define MEASURE_EMPTY_POLLS 4096

/* One queue pair, and its operations in flight. */
struct inflight {
	struct qp *qp;
	uint64_t posted;
	uint64_t done;
	uint64_t limit;	   /* posts no more than these */
	uint64_t *begun;   /* by slot: stamp of the post; of signalled ones */
	uint64_t *planned; /* by slot: open loop */
	bool *reads;	   /* by slot: mix */
	uint32_t post_slot;
	uint32_t done_slot;  /* the next one to be sampled */
	uint32_t unsignaled; /* posts since the last one with a signal */
	uint64_t requests;   /* answered operations: completions of requests, */
	uint64_t answers;    /* and answers; both make it done */
	uint64_t read_ops;   /* posted */
};

struct measure_slots {
	uint32_t qps;
	uint32_t depth;
	struct inflight *inflight;
	struct pollfd *fds;
	uint64_t *begun;
	uint64_t *planned;
	bool *reads;
	uint64_t *counts; /* MEASURE_COUNTS of them */
};

struct loop {
	const struct measure_cfg *cfg;
	struct measured *out;
	struct inflight *inflight;
	struct pollfd *fds;
	uint64_t *counts;	   /* [ticks]: samples that are not in latency yet */
	struct histogram *latency; /* the interval's or the whole's; NULL: none */
	int wc_most;		   /* completions taken by one poll */
	enum ibv_wc_opcode opcode; /* the last completion's of a write */
	uint64_t random;
	uint64_t read_below; /* share of reads, of 2^32 */
	/* stamps */
	uint64_t begin;
	uint64_t last; /* completions */
	uint64_t next_check;
	uint64_t end;	   /* stop posting */
	uint64_t hard_end; /* even without min_ops */
	uint64_t tick;	   /* between two looks; ticks */
	uint64_t window_end;
	uint64_t window_ticks;
	uint64_t window_ops; /* done when the window began */
	uint64_t interval_begin;
	uint64_t interval_end; /* on a grid, so that those of all threads end together */
	uint64_t interval_ticks;
	uint64_t intervals_end; /* what ends there or later ends with the measurement */
	uint64_t interval_ops;
	uint64_t interval_bytes;
	uint64_t interval_late;
	uint32_t interval_part;	    /* intervals so far, of those that are one in cfg->intervals */
	struct histogram *response; /* the interval's or the whole's; NULL: none */
	/* open loop */
	double ticks_per_ns;
	struct arrivals arrivals;
	uint64_t plan; /* stamp of the next operation */
	uint64_t posted;
	uint64_t post_max;
	uint32_t turn;	  /* the queue pair it is for */
	uint64_t max_lag; /* ticks */
};

/* loop_closed.c, loop_open.c */
int measure_closed(struct loop *l);
int measure_open(struct loop *l);
/* loop_single.c: takes the samples that were only counted */
void measure_single_drain(struct loop *l);

/* loop_time.c: the look at the time, and what happens then */
void measure_time_start(struct loop *l);
void measure_time_check(struct loop *l, uint64_t now);
/* Ends the intervals that are over: what completes now is in the next one. */
void measure_time_intervals(struct loop *l, uint64_t now);
/* Takes completions when it is time for a look; gives as measure_poll(). */
int measure_take_at_check(struct loop *l, struct inflight *r, const struct ibv_wc *wc, int got);
void measure_time_finish(struct loop *l);
uint64_t measure_done(const struct loop *l);
/* Counts posted bytes if sizes are mixed: at the end, all of them are done. */
uint64_t measure_bytes(const struct loop *l);
/* Posts no more but what it takes to see the last operation complete. */
void measure_stop(struct loop *l);

/* loop_wait.c: when completions stay away, and when something failed */
int measure_wait(struct loop *l, uint64_t timeout_ns);
int measure_check_progress(struct loop *l);
int measure_post_failed(const struct inflight *r, const struct operation *operation, int ret);
int measure_poll_failed(const struct inflight *r, int ret);
int measure_completion_failed(const struct loop *l, const struct inflight *r,
			      const struct ibv_wc *wc);
int measure_refused(const struct loop *l, const struct inflight *r, const char *why);

static inline uint64_t measure_in_flight(const struct inflight *r)
{
	return r->posted - r->done;
}

static inline void measure_record(const struct loop *l, struct histogram *h, uint64_t ticks)
{
	if (h != NULL)
		histogram_record(h, clock_ns(l->cfg->clock, ticks));
}

static inline bool measure_choose_read(struct loop *l)
{
	return random_next(&l->random) >> 32 < l->read_below;
}

/*
 * The rest is inlined into the loops, which pass constants. plain: the operation is
 * not answered, the loop is closed, and there is no mix of reads and writes.
 */

/* more: 0, or RPMA_F_MORE if another one is posted right behind it. The slot must be free. */
static __always_inline int measure_post(struct loop *l, struct inflight *r, bool plain, int more)
{
	const struct measure_cfg *cfg = l->cfg;
	const struct operation *operation = cfg->operation;
	uint32_t slot = r->post_slot;
	int flags = RPMA_F_COMPLETION_ON_ERROR, ret;

	if (!plain && cfg->reads != NULL) {
		r->reads[slot] = measure_choose_read(l);
		r->read_ops += r->reads[slot];
		operation = r->reads[slot] ? cfg->reads : operation;
	}
	if (++r->unsignaled == cfg->signal_every || r->posted + 1 == r->limit) {
		flags = RPMA_F_COMPLETION_ALWAYS;
		r->unsignaled = 0;
		r->begun[slot] = clock_now(cfg->clock);
	}
	ret = operation->post(r->qp, slot, flags | more);
	if (__builtin_expect(ret != 0, 0))
		return measure_post_failed(r, operation, ret);
	r->posted++;
	r->post_slot = slot + 1 == cfg->depth ? 0 : slot + 1;
	return 0;
}

/* Checks the server's answer, and readies the receive for another one. */
static inline int measure_check_answer(struct loop *l, struct inflight *r, const struct ibv_wc *wc)
{
	const struct operation *operation = l->cfg->operation;
	uint32_t at = (uint32_t)wc->wr_id;
	const char *refusal = "unexpected answer from the server";
	int ret;

	if (r->answers < r->posted)
		refusal = operation->refusal(r->qp, r->done_slot, at, wc->byte_len);
	if (refusal != NULL)
		return measure_refused(l, r, refusal);
	ret = operation->arm(r->qp, at);
	return ret == 0 ? 0 : measure_post_failed(r, operation, ret);
}

/* For an answered operation: true when it is the answer, and good or *ret tells. */
static inline bool measure_take_answer(struct loop *l, struct inflight *r, const struct ibv_wc *wc,
				       int *ret)
{
	bool answer = (wc->opcode & IBV_WC_RECV) != 0;

	if (answer) {
		*ret = measure_check_answer(l, r, wc);
		r->answers++;
	} else {
		r->requests++;
	}
	r->done = r->answers < r->requests ? r->answers : r->requests;
	return answer;
}

/* One completion; it stands for itself and the unsignalled ones before it. */
static __always_inline int measure_take(struct loop *l, struct inflight *r, const struct ibv_wc *wc,
					bool plain)
{
	const struct measure_cfg *cfg = l->cfg;
	uint64_t ops = measure_in_flight(r);
	uint32_t slot = r->done_slot;
	int ret = 0;

	if (__builtin_expect(wc->status != IBV_WC_SUCCESS, 0))
		return measure_completion_failed(l, r, wc);
	if (!plain && cfg->operation->answered) {
		if (!measure_take_answer(l, r, wc, &ret))
			return 0;
	} else {
		ops = ops < cfg->signal_every ? ops : cfg->signal_every;
		slot += (uint32_t)ops - 1;
		slot = slot < cfg->depth ? slot : slot - cfg->depth;
		r->done += ops;
	}
	if (!plain && cfg->reads != NULL && r->reads[slot]) {
		measure_record(l, cfg->read_latency, l->last - r->begun[slot]);
	} else {
		l->opcode = wc->opcode;
		measure_record(l, l->latency, l->last - r->begun[slot]);
	}
	if (!plain && l->response != NULL)
		measure_record(l, l->response, l->last - r->planned[slot]);
	r->done_slot = slot + 1 == cfg->depth ? 0 : slot + 1;
	return ret;
}

/* Every poll of every loop; gives as rpma_cq_get_wc(). */
static __always_inline int measure_get_wc(struct loop *l, struct qp *qp, struct ibv_wc *wc,
					  int *got)
{
	return rpma_cq_get_wc(qp->cq, l->wc_most, wc, got);
}

/* Gives the number of completions taken, 0 for none, or an error. */
static __always_inline int measure_poll(struct loop *l, struct inflight *r, bool plain)
{
	struct ibv_wc wc[MEASURE_WC_MAX];
	int got = 0, ret = measure_get_wc(l, r->qp, wc, &got);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	if (__builtin_expect(ret != 0, 0))
		return measure_poll_failed(r, ret);
	l->last = clock_now(l->cfg->clock);
	if (__builtin_expect(l->last >= l->next_check, 0))
		return measure_take_at_check(l, r, wc, got);
	for (int i = 0; i < got; i++) {
		ret = measure_take(l, r, &wc[i], plain);
		if (__builtin_expect(ret != 0, 0))
			return ret;
	}
	return got;
}
