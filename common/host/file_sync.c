/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_sync.c -- calls of msync(2) run side by side, so that a file system can commit them
 * together; one that has returned waits for those that began before, and tells the first
 * failure of all.
 */
#include "file_sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <unistd.h>

struct call {
	TAILQ_ENTRY(call) entry;
	uint64_t number;
};

struct file_sync {
	size_t page_bytes;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under lock */
	TAILQ_HEAD(calls, call) calls; /* in msync(2), from the oldest on */
	uint64_t begun;		       /* the number of the next one */
	int error;		       /* the first failure; 0: none */
};

int file_sync_new(struct file_sync **sync)
{
	struct file_sync *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	TAILQ_INIT(&s->calls);
	*sync = s;
	return 0;
}

void file_sync_delete(struct file_sync **sync)
{
	struct file_sync *s = *sync;

	*sync = NULL;
	if (s == NULL)
		return;
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int begin(struct file_sync *s, struct call *call)
{
	int error;

	pthread_mutex_lock(&s->lock);
	error = s->error;
	if (error == 0) {
		call->number = s->begun++;
		TAILQ_INSERT_TAIL(&s->calls, call, entry);
	}
	pthread_mutex_unlock(&s->lock);
	return error;
}

static bool older_runs(const struct file_sync *s, uint64_t number)
{
	const struct call *oldest = TAILQ_FIRST(&s->calls);

	return oldest != NULL && oldest->number < number;
}

/* A call that took a failure of these pages has begun by now, and notes it before it leaves. */
static int end(struct file_sync *s, struct call *call, int error)
{
	uint64_t begun;

	pthread_mutex_lock(&s->lock);
	begun = s->begun;
	if (s->error == 0)
		s->error = error;
	if (error != 0 || TAILQ_FIRST(&s->calls) == call)
		pthread_cond_broadcast(&s->changed);
	TAILQ_REMOVE(&s->calls, call, entry);
	while (s->error == 0 && older_runs(s, begun))
		pthread_cond_wait(&s->changed, &s->lock);
	error = s->error;
	pthread_mutex_unlock(&s->lock);
	return error;
}

int file_sync_range(struct file_sync *sync, void *memory, size_t bytes)
{
	const size_t before = (uintptr_t)memory % sync->page_bytes;
	struct call call;
	int error = begin(sync, &call);

	if (error)
		return error;
	if (msync((char *)memory - before, before + bytes, MS_SYNC) != 0)
		error = -errno;
	return end(sync, &call, error);
}
