/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.h -- threads that leave signals to the main thread, and what time they took. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/time.h>

/* Starts a thread with all signals blocked; thread NULL: it is detached. 0 or -errno. */
int thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg);

/* The form in which getrusage(2) tells processor time. */
static inline uint64_t thread_time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_usec * 1000;
}
