/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workers.c -- what each measuring thread does, and what all of them found.
 *
 * Everything a thread writes while it measures is its own memory, allocated
 * by it after it was bound; others read it when the phase is over.
 */
#include "workers.h"

#include <sched.h>
#include <stdlib.h>

#include "common/base/failure.h"
#include "common/base/thread.h"

/* A warm-up that lacks operations may take this many times its time. */
#define WARMUP_FACTOR	4
#define WARMUP_OPS	10000

#define INTERVAL_MIN_NS 100000000ULL
#define SECOND_NS	1000000000ULL

struct worker {
	struct measure_slots *slots;
	struct histogram *scratch;
	struct histogram *response_scratch; /* live, and an open loop; else NULL */
	struct worker_figures figures;
	int bind_error; /* -errno */
};

struct workers {
	struct workers_cfg cfg;
	struct thread_pool *pool;
	struct qp *qps;
	enum message_phase phase;
	uint32_t count;
	struct worker each[];
};

void worker_usage_since(const struct rusage *before, struct thread_usage *usage)
{
	struct rusage now;

	getrusage(RUSAGE_THREAD, &now);
	usage->cpu = sched_getcpu();
	topology_read_back(usage->cpus);
	usage->user_ns = thread_time_ns(now.ru_utime) - thread_time_ns(before->ru_utime);
	usage->sys_ns = thread_time_ns(now.ru_stime) - thread_time_ns(before->ru_stime);
	usage->vol_switches = (uint64_t)(now.ru_nvcsw - before->ru_nvcsw);
	usage->invol_switches = (uint64_t)(now.ru_nivcsw - before->ru_nivcsw);
	usage->minor_faults = (uint64_t)(now.ru_minflt - before->ru_minflt);
	usage->major_faults = (uint64_t)(now.ru_majflt - before->ru_majflt);
}

/* Only where they are shown while it is measured. */
static bool allocate_live(struct worker *w, const struct params *p)
{
	w->figures.live = calloc(1, sizeof(*w->figures.live));
	if (w->figures.live == NULL)
		return false;
	live_reset(w->figures.live);
	if (p->test == BENCH_RATE)
		w->response_scratch = histogram_new();
	return p->test != BENCH_RATE || w->response_scratch != NULL;
}

static int allocate(struct worker *w, const struct params *p, bool live)
{
	w->slots = measure_slots_new(p->connections, p->depth);
	w->figures.latency = histogram_new();
	w->scratch = histogram_new();
	w->figures.intervals = calloc(WORKERS_INTERVALS_MAX, sizeof(*w->figures.intervals));
	if (p->test == BENCH_MIX)
		w->figures.read_latency = histogram_new();
	if (p->test == BENCH_RATE)
		w->figures.response = histogram_new();
	if (w->slots == NULL || w->figures.latency == NULL || w->scratch == NULL ||
	    w->figures.intervals == NULL ||
	    (p->test == BENCH_MIX && w->figures.read_latency == NULL) ||
	    (p->test == BENCH_RATE && w->figures.response == NULL) ||
	    (live && !allocate_live(w, p)))
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	return 0;
}

/* A job: first the core, then the memory. Not being allowed to bind is no failure. */
static int settle(void *arg, uint32_t thread)
{
	struct workers *w = arg;
	const struct workers_cfg *c = &w->cfg;

	if (c->cpus != NULL && c->cpus[thread] >= 0)
		w->each[thread].bind_error = topology_bind_thread(c->topology, c->cpus[thread]);
	return allocate(&w->each[thread], &c->begin->params, c->interval_ns > 0);
}

int workers_new(struct workers **workers, const struct workers_cfg *cfg)
{
	uint32_t threads = cfg->begin->params.threads;
	struct workers *w = calloc(1, sizeof(*w) + threads * sizeof(w->each[0]));
	int ret;

	if (w == NULL)
		return failure_set(EXIT_INTERNAL, "measure", "out of memory");
	w->cfg = *cfg;
	w->count = threads;
	ret = thread_pool_new(&w->pool, threads);
	if (ret == 0)
		ret = workers_do(w, settle, w);
	if (ret)
		workers_delete(&w);
	else
		*workers = w;
	return ret;
}

void workers_delete(struct workers **workers)
{
	struct workers *w = *workers;

	*workers = NULL;
	if (w == NULL)
		return;
	thread_pool_delete(&w->pool);
	for (uint32_t i = 0; i < w->count; i++) {
		measure_slots_delete(w->each[i].slots);
		free(w->each[i].figures.latency);
		free(w->each[i].figures.read_latency);
		free(w->each[i].figures.response);
		free(w->each[i].figures.live);
		free(w->each[i].response_scratch);
		free(w->each[i].scratch);
		free(w->each[i].figures.intervals);
	}
	free(w);
}

int workers_do(struct workers *workers, thread_pool_job *job, void *arg)
{
	thread_pool_begin(workers->pool, job, arg);
	return thread_pool_end(workers->pool);
}

void workers_begin_job(struct workers *workers, thread_pool_job *job, void *arg)
{
	thread_pool_begin(workers->pool, job, arg);
}

/* One thread's part of an amount of all threads. */
static uint64_t share(uint64_t all, uint32_t threads, uint32_t thread)
{
	return all / threads + (thread < all % threads);
}

/* Intervals are as long as lets all of them fit, or as they are to be shown. */
static uint64_t interval_ns(const struct workers_cfg *c)
{
	bool open_end = c->begin->ops > 0 || c->endless;
	uint64_t least = open_end ? SECOND_NS : c->begin->duration_ns / WORKERS_INTERVALS_MAX + 1;

	if (c->interval_ns > 0)
		return c->interval_ns;

	return (least + INTERVAL_MIN_NS - 1) / INTERVAL_MIN_NS * INTERVAL_MIN_NS;
}

static void set_warmup(const struct workers_cfg *c, struct measure_cfg *m)
{
	m->duration_ns = c->begin->warmup_ns;
	m->limit_ns = c->begin->warmup_ns * WARMUP_FACTOR;
	m->min_ops = WARMUP_OPS / c->begin->params.threads + 1;
}

static void set_measurement(const struct workers *w, struct worker *worker, uint32_t thread,
			    struct measure_cfg *m)
{
	const struct workers_cfg *c = &w->cfg;

	m->duration_ns = c->endless	     ? MEASURE_ENDLESS_NS
			 : c->begin->ops > 0 ? MESSAGE_DURATION_MAX
					     : c->begin->duration_ns;
	m->limit_ns = m->duration_ns;
	/* what was planned within the time is still to be done, though late */
	if (c->begin->params.test == BENCH_RATE)
		m->limit_ns *= 2;
	m->max_ops = share(c->begin->ops, w->count, thread);
	m->latency = worker->figures.latency;
	m->read_latency = worker->figures.read_latency;
	m->response = worker->figures.response;
	m->scratch = worker->scratch;
	m->response_scratch = worker->response_scratch;
	m->live = worker->figures.live;
	m->intervals = worker->figures.intervals;
	m->intervals_max = WORKERS_INTERVALS_MAX;
	m->interval_ns = interval_ns(c);
}

/* All threads together keep the rate: each begins at its own time in a period. */
static void set_rate(const struct workers *w, uint32_t thread, struct measure_cfg *m)
{
	if (w->cfg.begin->params.rate_per_s == 0)
		return;
	m->period_ns = (double)w->count * 1e9 / (double)w->cfg.begin->params.rate_per_s;
	m->arrivals = w->cfg.begin->params.arrivals;
	m->first_ns = m->period_ns * (double)thread / (double)w->count;
	if (m->arrivals.kind == BENCH_BURST)
		m->first_ns *= m->arrivals.number;
}

static struct measure_cfg cfg_of(const struct workers *w, struct worker *worker, uint32_t thread)
{
	const struct params *p = &w->cfg.begin->params;
	struct measure_cfg m = {
		.operation = w->cfg.operation,
		.reads = w->cfg.reads,
		.read_millionths = p->read_millionths,
		.seed = w->cfg.begin->seed + thread,
		.qps = w->qps + (size_t)thread * p->connections,
		.qps_count = p->connections,
		.clock = w->cfg.clock,
		.depth = p->depth,
		.batch = p->batch,
		.signal_every = p->signal_every,
		.completion = p->completion,
		.stop = thread_pool_stop(w->pool),
	};

	set_rate(w, thread, &m);
	if (w->phase == PHASE_WARMUP)
		set_warmup(&w->cfg, &m);
	else
		set_measurement(w, worker, thread, &m);
	return m;
}

static void mark_durable(const struct measure_cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->qps_count; i++)
		qp_mark_durable(&cfg->qps[i], cfg->operation);
}

/* A job. With fewer operations than threads, some have nothing to do but to meet. */
static int measure(void *arg, uint32_t thread)
{
	struct workers *w = arg;
	struct worker *worker = &w->each[thread];
	struct measure_cfg cfg = cfg_of(w, worker, thread);
	struct rusage before;
	int ret = 0;

	thread_pool_meet(w->pool);
	if (w->phase == PHASE_WARMUP)
		return measure_run(&cfg, worker->slots, &worker->figures.warmup);
	getrusage(RUSAGE_THREAD, &before);
	if (w->cfg.begin->ops == 0 || cfg.max_ops > 0)
		ret = measure_run(&cfg, worker->slots, &worker->figures.measured);
	worker_usage_since(&before, &worker->figures.usage);
	if (ret == 0 && worker->figures.measured.ops > 0)
		mark_durable(&cfg);
	worker->figures.usage.ops = worker->figures.measured.ops;
	return ret;
}

void workers_begin(struct workers *workers, struct qp *qps, enum message_phase phase)
{
	workers->qps = qps;
	workers->phase = phase;
	thread_pool_begin(workers->pool, measure, workers);
}

int workers_done_fd(const struct workers *workers)
{
	return thread_pool_done_fd(workers->pool);
}

void workers_stop(struct workers *workers)
{
	atomic_store(thread_pool_stop(workers->pool), 1);
}

bool workers_stopping(const struct workers *workers)
{
	return atomic_load(thread_pool_stop(workers->pool)) != 0;
}

int workers_end(struct workers *workers)
{
	return thread_pool_end(workers->pool);
}

uint32_t workers_live_ready(const struct workers *workers)
{
	uint32_t ready = 0;

	for (uint32_t i = 0; i < workers->count; i++)
		ready += live_ready(workers->each[i].figures.live);
	return ready;
}

uint32_t workers_live_take(const struct workers *workers, struct live_snapshot *all)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < workers->count; i++)
		taken += live_take(workers->each[i].figures.live, all);
	return taken;
}

int workers_unbound(const struct workers *workers, int *cpu)
{
	for (uint32_t i = 0; i < workers->count; i++) {
		*cpu = workers->cfg.cpus != NULL ? workers->cfg.cpus[i] : -1;
		if (workers->each[i].bind_error != 0)
			return workers->each[i].bind_error;
	}
	return 0;
}

const struct worker_figures *workers_figures(const struct workers *workers, uint32_t thread)
{
	return &workers->each[thread].figures;
}
