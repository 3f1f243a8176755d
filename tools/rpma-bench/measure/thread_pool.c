/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pool.c -- the threads of a crew and how they learn of jobs.
 *
 * A job has a number; a thread that has done all jobs up to now sleeps until
 * the number grows. The last one to finish a job makes an eventfd readable.
 */
#include "thread_pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tools/common/base/failure.h"
#include "tools/common/base/thread.h"

struct member {
	struct crew *crew;
	uint32_t index;
	pthread_t thread;
};

struct crew {
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
	crew_job *job;
	void *arg;
	uint32_t busy;
	int ret;
	struct failure failure; /* what ret reports */
	struct member members[];
};

/* Sleeps until there is a job after the last one; false: it is over. */
static bool next_job(struct crew *c, uint64_t last)
{
	bool there;

	pthread_mutex_lock(&c->lock);
	while (c->jobs == last && !c->quit)
		pthread_cond_wait(&c->changed, &c->lock);
	there = c->jobs != last;
	pthread_mutex_unlock(&c->lock);
	return there;
}

static void finish(struct crew *c, int ret)
{
	pthread_mutex_lock(&c->lock);
	if (ret != 0 && c->ret == 0) {
		c->ret = ret;
		c->failure = *failure_get();
		atomic_store(&c->stop, 1);
	}
	if (--c->busy == 0)
		eventfd_write(c->done_fd, 1);
	pthread_mutex_unlock(&c->lock);
}

static void *member_run(void *arg)
{
	struct member *m = arg;
	struct crew *c = m->crew;

	for (uint64_t last = 0; next_job(c, last); last++)
		finish(c, c->job(c->arg, m->index));
	return NULL;
}

static int start_all(struct crew *c)
{
	for (uint32_t i = 0; i < c->count; i++) {
		int ret;

		c->members[i].crew = c;
		c->members[i].index = i;
		ret = thread_start(&c->members[i].thread, member_run, &c->members[i]);
		if (ret)
			return failure_set(EXIT_RUN_FAILED, "start",
					   "cannot start thread %u of %u: %s", i + 1, c->count,
					   strerror(-ret));
		c->started++;
	}
	return 0;
}

int crew_new(struct crew **crew, uint32_t threads)
{
	struct crew *c = calloc(1, sizeof(*c) + threads * sizeof(c->members[0]));
	int ret;

	if (c == NULL)
		return failure_set(EXIT_INTERNAL, "start", "out of memory");
	c->count = threads;
	c->done_fd = eventfd(0, EFD_CLOEXEC);
	if (c->done_fd < 0) {
		free(c);
		return failure_set(EXIT_INTERNAL, "start", "cannot make an eventfd: %s",
				   strerror(errno));
	}
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	pthread_barrier_init(&c->meeting, NULL, threads);
	ret = start_all(c);
	if (ret)
		crew_delete(&c);
	else
		*crew = c;
	return ret;
}

void crew_delete(struct crew **crew)
{
	struct crew *c = *crew;

	*crew = NULL;
	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	c->quit = true;
	pthread_cond_broadcast(&c->changed);
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < c->started; i++)
		pthread_join(c->members[i].thread, NULL);
	pthread_barrier_destroy(&c->meeting);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	close(c->done_fd);
	free(c);
}

void crew_begin(struct crew *crew, crew_job *job, void *arg)
{
	pthread_mutex_lock(&crew->lock);
	crew->job = job;
	crew->arg = arg;
	crew->busy = crew->count;
	crew->jobs++;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
}

int crew_done_fd(const struct crew *crew)
{
	return crew->done_fd;
}

int crew_end(struct crew *crew)
{
	eventfd_t ignored;
	int ret;

	while (eventfd_read(crew->done_fd, &ignored) != 0 && errno == EINTR)
		;
	pthread_mutex_lock(&crew->lock);
	ret = crew->ret;
	if (ret)
		*failure_get() = crew->failure;
	pthread_mutex_unlock(&crew->lock);
	return ret;
}

void crew_meet(struct crew *crew)
{
	pthread_barrier_wait(&crew->meeting);
}

atomic_int *crew_stop(struct crew *crew)
{
	return &crew->stop;
}
