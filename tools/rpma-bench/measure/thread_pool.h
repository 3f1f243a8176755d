/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pool.h -- threads that do the same job at the same time.
 *
 * The thread that made a pool begins a job, may poll for other things while
 * the pool is at it, and then takes the result: the error message of the first
 * thread that failed is the pool's, and makes the others stop.
 */
#ifndef BENCH_MEASURE_THREAD_POOL_H
#define BENCH_MEASURE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdint.h>

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

#endif /* BENCH_MEASURE_THREAD_POOL_H */
