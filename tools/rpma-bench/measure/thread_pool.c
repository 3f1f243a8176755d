/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pool.c -- the threads of a pool and how they learn of jobs.
 *
 * A job has a number; a thread that has done all jobs up to now sleeps until
 * the number grows. The last one to finish a job makes an eventfd readable.
 */
#include "workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/thread.h"

struct member {
	struct thread_pool *pool;
	uint32_t index;
	pthread_t thread;
};

struct thread_pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_barrier_t meeting;
	int done_fd;
	atomic_int stop;
	uint32_t count;
	uint32_t started; /* members to be joined */
	/* under lock */
	uint64_t jobs; /* begun so far */
	bool quit;
	thread_pool_job *job;
	void *arg;
	uint32_t busy;
	int ret;
	struct failure failure; /* what ret reports */
	struct member members[];
};

/* Sleeps until there is a job after the last one; false: it is over. */
static bool next_job(struct thread_pool *p, uint64_t last)
{
	bool there;

	pthread_mutex_lock(&p->lock);
	while (p->jobs == last && !p->quit)
		pthread_cond_wait(&p->changed, &p->lock);
	there = p->jobs != last;
	pthread_mutex_unlock(&p->lock);
	return there;
}

static void finish(struct thread_pool *p, int ret)
{
	pthread_mutex_lock(&p->lock);
	if (ret != 0 && p->ret == 0) {
		p->ret = ret;
		p->failure = *failure_get();
		atomic_store(&p->stop, 1);
	}
	if (--p->busy == 0)
		eventfd_write(p->done_fd, 1);
	pthread_mutex_unlock(&p->lock);
}

static void *member_run(void *arg)
{
	struct member *m = arg;
	struct thread_pool *p = m->pool;

	for (uint64_t last = 0; next_job(p, last); last++)
		finish(p, p->job(p->arg, m->index));
	return NULL;
}

static int start_all(struct thread_pool *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		int ret;

		p->members[i].pool = p;
		p->members[i].index = i;
		ret = thread_start(&p->members[i].thread, member_run, &p->members[i]);
		if (ret)
			return failure_call("start", -ret, "start thread %u of %u", i + 1,
					    p->count);
		p->started++;
	}
	return 0;
}

int thread_pool_new(struct thread_pool **pool, uint32_t threads)
{
	struct thread_pool *p = calloc(1, sizeof(*p) + threads * sizeof(p->members[0]));
	int ret;

	if (p == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	p->count = threads;
	p->done_fd = eventfd(0, EFD_CLOEXEC);
	if (p->done_fd < 0) {
		ret = failure_call("start", errno, "make an eventfd");
		free(p);
		return ret;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	pthread_barrier_init(&p->meeting, NULL, threads);
	ret = start_all(p);
	if (ret)
		thread_pool_delete(&p);
	else
		*pool = p;
	return ret;
}

void thread_pool_delete(struct thread_pool **pool)
{
	struct thread_pool *p = *pool;

	*pool = NULL;
	if (p == NULL)
		return;
	pthread_mutex_lock(&p->lock);
	p->quit = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < p->started; i++)
		pthread_join(p->members[i].thread, NULL);
	pthread_barrier_destroy(&p->meeting);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	close(p->done_fd);
	free(p);
}

void thread_pool_begin(struct thread_pool *pool, thread_pool_job *job, void *arg)
{
	pthread_mutex_lock(&pool->lock);
	pool->job = job;
	pool->arg = arg;
	pool->busy = pool->count;
	pool->jobs++;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

int thread_pool_done_fd(const struct thread_pool *pool)
{
	return pool->done_fd;
}

int thread_pool_end(struct thread_pool *pool)
{
	eventfd_t ignored;
	int ret;

	while (eventfd_read(pool->done_fd, &ignored) != 0 && errno == EINTR)
		;
	pthread_mutex_lock(&pool->lock);
	ret = pool->ret;
	if (ret)
		*failure_get() = pool->failure;
	pthread_mutex_unlock(&pool->lock);
	return ret;
}

void thread_pool_meet(struct thread_pool *pool)
{
	pthread_barrier_wait(&pool->meeting);
}

atomic_int *thread_pool_stop(struct thread_pool *pool)
{
	return &pool->stop;
}
