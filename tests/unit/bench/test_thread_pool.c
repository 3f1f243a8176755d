/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_thread_pool.c -- threads that do a job together: all of them, at once, and
 * with one sentence when it fails.
 */
#include <poll.h>

#include "common/base/failure.h"
#include "tests/lib/test.h"
#include "tools/rpma-bench/measure/workers.h"

#define THREADS 4

struct job {
	struct thread_pool *pool;
	atomic_int done[THREADS];
	atomic_int here;
	atomic_int early; /* threads that went on before all were there */
	uint32_t failing;
};

static int setup(void **state)
{
	static struct job job;

	memset(&job, 0, sizeof(job));
	job.failing = THREADS;
	*state = &job;
	return thread_pool_new(&job.pool, THREADS);
}

static int teardown(void **state)
{
	struct job *job = *state;

	thread_pool_delete(&job->pool);
	return 0;
}

static int count(void *arg, uint32_t thread)
{
	struct job *job = arg;

	atomic_fetch_add(&job->done[thread], 1);
	return 0;
}

TEST(every_thread_does_every_job_once, setup, teardown)
{
	struct job *job = *state;

	for (int round = 1; round <= 3; round++) {
		thread_pool_begin(job->pool, count, job);
		assert_int_equal(thread_pool_end(job->pool), 0);
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(atomic_load(&job->done[i]), round);
	}
}

static int meet(void *arg, uint32_t thread)
{
	struct job *job = arg;

	atomic_fetch_add(&job->here, 1);
	thread_pool_meet(job->pool);
	if (atomic_load(&job->here) != THREADS)
		atomic_fetch_add(&job->early, 1);
	return 0;
}

TEST(nobody_begins_before_all_are_there, setup, teardown)
{
	struct job *job = *state;

	thread_pool_begin(job->pool, meet, job);
	EQUAL((thread_pool_end(job->pool), 0), (atomic_load(&job->early), 0));
}

/* The others work and look at the flag until one of them fails. */
static int fail_one(void *arg, uint32_t thread)
{
	struct job *job = arg;

	if (thread == job->failing)
		return failure_set(EXIT_RUN_FAILED, "measure", "thread %u failed", thread);
	while (atomic_load(thread_pool_stop(job->pool)) == 0)
		poll(NULL, 0, 1);
	return 0;
}

TEST(one_that_fails_stops_the_others, setup, teardown)
{
	struct job *job = *state;

	job->failing = 2;
	thread_pool_begin(job->pool, fail_one, job);
	assert_int_not_equal(thread_pool_end(job->pool), 0);
	EQUAL((failure_get()->text, "thread 2 failed"), (failure_get()->step, "measure"));
}

TEST(the_end_can_be_polled_for, setup, teardown)
{
	struct job *job = *state;
	struct pollfd fd = {thread_pool_done_fd(job->pool), POLLIN, 0};

	assert_int_equal(poll(&fd, 1, 0), 0);
	thread_pool_begin(job->pool, count, job);
	EQUAL((poll(&fd, 1, -1), 1), (thread_pool_end(job->pool), 0), (poll(&fd, 1, 0), 0));
}
