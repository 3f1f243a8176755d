/* SPDX-License-Identifier: BSD-3-Clause */
/* loop.c -- one measurement: what it begins with, which loop runs, and what it leaves behind. */
#include "loop_core.h"

#include <stdlib.h>
#include <string.h>

struct measure_slots *measure_slots_new(uint32_t qps, uint32_t depth)
{
	struct measure_slots *s = calloc(1, sizeof(*s));
	size_t count = (size_t)qps * depth;

	if (s == NULL)
		return NULL;
	s->qps = qps;
	s->depth = depth;
	s->inflight = calloc(qps, sizeof(*s->inflight));
	s->fds = calloc(qps, sizeof(*s->fds));
	s->begun = calloc(count, sizeof(*s->begun));
	s->planned = calloc(count, sizeof(*s->planned));
	s->reads = calloc(count, sizeof(*s->reads));
	s->counts = calloc(MEASURE_COUNTS, sizeof(*s->counts));
	if (s->inflight == NULL || s->fds == NULL || s->begun == NULL || s->planned == NULL ||
	    s->reads == NULL || s->counts == NULL) {
		measure_slots_delete(s);
		return NULL;
	}
	return s;
}

void measure_slots_delete(struct measure_slots *slots)
{
	if (slots == NULL)
		return;
	free(slots->counts);
	free(slots->reads);
	free(slots->planned);
	free(slots->begun);
	free(slots->fds);
	free(slots->inflight);
	free(slots);
}

/* Each queue pair has its share of max_ops, so each knows its last operation. */
static uint64_t share(const struct measure_cfg *cfg, uint32_t qp)
{
	if (cfg->max_ops == 0)
		return UINT64_MAX;
	return cfg->max_ops / cfg->qps_count + (qp < cfg->max_ops % cfg->qps_count);
}

static void start_inflight(const struct measure_cfg *cfg, struct measure_slots *slots)
{
	for (uint32_t i = 0; i < cfg->qps_count; i++) {
		size_t at = (size_t)i * cfg->depth;

		cfg->qps[i].bytes = 0;
		slots->inflight[i] = (struct inflight){
			.qp = &cfg->qps[i],
			.limit = share(cfg, i),
			.begun = slots->begun + at,
			.planned = slots->planned + at,
			.reads = slots->reads + at,
		};
	}
}

static double ticks_per_ns(const struct clock *clock)
{
	return clock->counter ? 4294967296.0 / (double)clock->ns_per_tick_32 : 1;
}

static int wc_most(const struct measure_cfg *cfg)
{
	uint32_t most = cfg->operation->answered ? 2 * cfg->depth : cfg->depth;

	return most < MEASURE_WC_MAX ? (int)most : MEASURE_WC_MAX;
}

static void finish(struct loop *l)
{
	const struct measure_cfg *cfg = l->cfg;
	struct measured *m = l->out;

	measure_time_finish(l);
	m->ops = measure_done(l);
	m->bytes = measure_bytes(l);
	for (uint32_t i = 0; i < cfg->qps_count; i++) {
		struct inflight *r = &l->inflight[i];

		m->read_ops += r->read_ops;
		r->qp->touched += r->posted - r->read_ops;
	}
	m->elapsed_ns = clock_ns(cfg->clock, l->last - l->begin);
	m->max_lag_ns = clock_ns(cfg->clock, l->max_lag);
	if (cfg->response != NULL)
		cfg->response->unbegun = m->unbegun_ops;
	if (m->ops == m->read_ops)
		return;
	m->native_flush = cfg->operation->flushes && l->opcode != IBV_WC_RDMA_READ;
	m->native_atomic_write = cfg->operation->atomic_writes && l->opcode != IBV_WC_RDMA_WRITE;
}

static bool is_single(const struct measure_cfg *cfg)
{
	return cfg->qps_count == 1 && cfg->depth == 1 && cfg->completion == BENCH_POLL &&
	       cfg->period_ns <= 0 && cfg->reads == NULL && cfg->operation->single != NULL;
}

int measure_run(const struct measure_cfg *cfg, struct measure_slots *slots,
		struct measured *measured)
{
	struct loop l = {
		.cfg = cfg,
		.out = measured,
		.inflight = slots->inflight,
		.fds = slots->fds,
		.counts = is_single(cfg) ? slots->counts : NULL,
		.latency = cfg->scratch != NULL ? cfg->scratch : cfg->latency,
		.response = cfg->response_scratch != NULL ? cfg->response_scratch : cfg->response,
		.wc_most = wc_most(cfg),
		.random = cfg->seed,
		.read_below = ((uint64_t)cfg->read_millionths << 32) / PARAMS_MILLION,
		.ticks_per_ns = ticks_per_ns(cfg->clock),
		.post_max = cfg->max_ops > 0 ? cfg->max_ops : UINT64_MAX,
	};
	int ret;

	*measured = (struct measured){.begin_raw_ns = clock_raw_ns()};
	start_inflight(cfg, slots);
	if (cfg->scratch != NULL)
		histogram_reset(cfg->scratch);
	if (cfg->response_scratch != NULL)
		histogram_reset(cfg->response_scratch);
	/* page faults now, not later */
	if (l.counts != NULL)
		memset(l.counts, 0, MEASURE_COUNTS * sizeof(l.counts[0]));
	l.begin = clock_now(cfg->clock);
	l.last = l.begin;
	measure_time_start(&l);
	if (cfg->period_ns > 0)
		ret = measure_open(&l);
	else
		ret = l.counts != NULL ? cfg->operation->single(&l) : measure_closed(&l);
	finish(&l);
	return ret;
}
