/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.h -- the lock of what processes share.
 *
 * A robust, process-shared mutex: when its holder is killed the next one gets it
 * all the same. Whoever writes shared state therefore writes data first and the
 * one word that makes it count (a head, a tail, a state) last, so that a state
 * left half-way is one in which the last step has not happened.
 */
#ifndef SOFT_LOCK_H
#define SOFT_LOCK_H

#include <errno.h>
#include <pthread.h>

struct shared_lock {
	pthread_mutex_t mutex;
};

static inline void shared_lock_init(struct shared_lock *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&lock->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static inline void shared_lock_take(struct shared_lock *lock)
{
	if (pthread_mutex_lock(&lock->mutex) == EOWNERDEAD)
		pthread_mutex_consistent(&lock->mutex);
}

static inline void shared_lock_release(struct shared_lock *lock)
{
	pthread_mutex_unlock(&lock->mutex);
}

#endif /* SOFT_LOCK_H */
