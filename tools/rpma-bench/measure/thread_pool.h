/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pool.h -- threads that do the same job at the same time.
 *
 * The thread that made a crew begins a job, may poll for other things while
 * the crew is at it, and then takes the result: the sentence of the first
 * thread that failed is the crew's, and makes the others stop.
 */
#ifndef BENCH_MEASURE_THREAD_POOL_H
#define BENCH_MEASURE_THREAD_POOL_H

#include <stdatomic.h>
#include <stdint.h>

struct crew;

/* Called in each thread: 0, or negative with the sentence stored. */
typedef int crew_job(void *arg, uint32_t thread);

/* Starts threads, which wait for a job. */
int crew_new(struct crew **crew, uint32_t threads);
/* Ends them; no job may be running. NULL is fine. */
void crew_delete(struct crew **crew);

void crew_begin(struct crew *crew, crew_job *job, void *arg);
/* Readable once all threads are done with the job. */
int crew_done_fd(const struct crew *crew);
/* Waits until they are; 0, or what the first thread that failed gave, its sentence stored. */
int crew_end(struct crew *crew);

/* In a job, once by each thread: returns when all are there. */
void crew_meet(struct crew *crew);
/* Not 0: the job is to end early. Set when a thread fails; never cleared. */
atomic_int *crew_stop(struct crew *crew);

#endif /* BENCH_MEASURE_THREAD_POOL_H */
