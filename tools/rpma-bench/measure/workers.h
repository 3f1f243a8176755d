/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * workers.h -- measures with several threads at once, one core each.
 *
 * Each thread binds itself, allocates what it needs, and in each phase meets
 * the others before its first operation, so that all queue pairs measure the same
 * span. Figures are kept a thread and put together after the end. Used by the
 * client, and by the server for the reverse direction.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>

#include "common/host/topology.h"
#include "loop.h"
#include "operation.h"
#include "tools/rpma-bench/protocol/message.h"

/*
 * Threads that do the same job at the same time. The thread that made a pool begins a job, may
 * poll for other things while the pool is at it, and then takes the result: the error message of
 * the first thread that failed is the pool's, and makes the others stop.
 */
struct thread_pool;

/* Called in each thread: 0, or negative with the error message set. */
typedef int thread_pool_job(void *arg, uint32_t thread);

/* Starts threads, which wait for a job. */
int thread_pool_new(struct thread_pool **pool, uint32_t threads);
/* Ends them; no job may be running. NULL is fine. */
void thread_pool_delete(struct thread_pool **pool);

void thread_pool_begin(struct thread_pool *pool, thread_pool_job *job, void *arg);
/* Readable once all threads are done with the job. */
int thread_pool_done_fd(const struct thread_pool *pool);
/* Waits until they are; 0, or what the first thread that failed gave, its error message set. */
int thread_pool_end(struct thread_pool *pool);

/* In a job, once by each thread: returns when all are there. */
void thread_pool_meet(struct thread_pool *pool);
/* Not 0: the job is to end early. Set when a thread fails; never cleared. */
atomic_int *thread_pool_stop(struct thread_pool *pool);

struct workers;

/* The most a repeat has. */
#define WORKERS_INTERVALS_MAX 600

struct thread_usage {
	int cpu;		       /* -1: unknown */
	char cpus[TOPOLOGY_CPUS_TEXT]; /* the affinity read back from the kernel */
	uint64_t ops;
	uint64_t user_ns;
	uint64_t sys_ns;
	uint64_t vol_switches;
	uint64_t invol_switches;
	uint64_t minor_faults;
	uint64_t major_faults;
};

struct worker_figures {
	struct histogram *latency;
	struct histogram *read_latency; /* set in a mix; else NULL */
	struct histogram *response;	/* open loop; else NULL */
	struct measure_interval *intervals;
	struct measured warmup;
	struct measured measured;
	struct live *live;	   /* NULL: no live line */
	struct thread_usage usage; /* while it measured */
};

struct workers_cfg {
	const struct message_begin *begin; /* all of it but the target */
	const struct operation *operation;
	const struct operation *reads; /* the other operation of a mix; else NULL */
	const struct clock *clock;
	const struct topology *topology;
	bool endless;	      /* measured until it is stopped */
	uint64_t interval_ns; /* shown so often while it is measured; 0: not */
	const int *cpus;      /* per thread, -1: not bound; NULL: none is */
};

/* Starts the threads; what cfg points to is borrowed. */
int workers_new(struct workers **workers, const struct workers_cfg *cfg);
/* Ends them; NULL is fine. */
void workers_delete(struct workers **workers);

/* Runs a job in each thread and waits for it. */
int workers_do(struct workers *workers, thread_pool_job *job, void *arg);
/* Begins a job of another kind of measurement; like a phase, it is to be ended. */
void workers_begin_job(struct workers *workers, thread_pool_job *job, void *arg);

/* Operations over the queue pairs, those of thread 0 first; measured is one phase. */
void workers_begin(struct workers *workers, struct qp *qps, enum message_phase phase);
/* Readable when the phase is over. */
int workers_done_fd(const struct workers *workers);
/* Makes the phase end early, in good order. */
void workers_stop(struct workers *workers);
bool workers_stopping(const struct workers *workers);
/* Waits for the end of the phase. */
int workers_end(struct workers *workers);

/* The first thread that could not be bound: its core and why (-errno); 0: all are. */
int workers_unbound(const struct workers *workers, int *cpu);

/* How many threads have an interval to show, at any time; and adds what they show (loop.h). */
uint32_t workers_live_ready(const struct workers *workers);
uint32_t workers_live_take(const struct workers *workers, struct live_snapshot *all);

/* The measurements of one thread, once its phase is over; borrowed. */
const struct worker_figures *workers_figures(const struct workers *workers, uint32_t thread);

/* The calling thread's resource use since before (RUSAGE_THREAD), and its CPU. */
void worker_usage_since(const struct rusage *before, struct thread_usage *usage);
