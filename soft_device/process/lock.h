/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.h -- the lock of what processes share.
 *
 * The word names the thread that holds it; when that was killed the next one gets the lock all the
 * same. Writers of shared state therefore write data first and the one word that
 * makes it count (a head, a tail, a state) last, so that a state left half-way is one in
 * which the last step has not happened. A data path takes four locks for each request:
 * one compare-and-swap here, half of what a robust mutex of glibc costs.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct shared_lock {
	_Atomic uint64_t
		holder; /* 0: free; else what names a thread among all of its pid namespace */
};

/* This thread; 0 until it has taken a lock. Private to lock.c. */
extern _Thread_local uint64_t lock_self __attribute__((tls_model("initial-exec")));

/* The id of this thread, gettid(2); 0 until it has taken a lock. */
static inline pid_t lock_thread(void)
{
	return (pid_t)lock_self;
}

/* Waits; true when the lock comes from a thread that died with it. Private to lock.c. */
bool lock_wait(struct shared_lock *lock);
/* Waits a little; true: it is taken. Private to lock.c. */
bool lock_wait_soon(struct shared_lock *lock);

static inline void shared_lock_init(struct shared_lock *lock)
{
	atomic_init(&lock->holder, 0);
}

/*
 * Without waiting. Sequentially consistent, as the owner of a region takes its key out and then
 * looks at who holds a lock, while an executor takes the lock and then looks at the key: one of
 * them sees the other (mr_settle()).
 */
static inline bool shared_lock_try(struct shared_lock *lock)
{
	uint64_t none = 0;

	return __builtin_expect(lock_self != 0, 1) &&
	       atomic_compare_exchange_strong_explicit(&lock->holder, &none, lock_self,
						       memory_order_seq_cst, memory_order_relaxed);
}

/* For locks that only threads of this process take. True when the holder before us died with it. */
static inline bool shared_lock_take(struct shared_lock *lock)
{
	return shared_lock_try(lock) ? false : lock_wait(lock);
}

/*
 * For locks that a peer may hold, who may be stopped: a debugger, a frozen cgroup. False when the
 * lock cannot be had for some milliseconds: what was to be done under it is done later.
 */
static inline __attribute__((always_inline)) bool shared_lock_take_soon(struct shared_lock *lock)
{
	return shared_lock_try(lock) ? true : lock_wait_soon(lock);
}

static inline void shared_lock_release(struct shared_lock *lock)
{
	atomic_store_explicit(&lock->holder, 0, memory_order_release);
}

/* CLOCK_MONOTONIC in nanoseconds, for what is below process_now_ns(), which is the same. */
uint64_t lock_now_ns(void);

/* Without waiting, from a thread that died with it as well; from any thread. */
bool shared_lock_take_now(struct shared_lock *lock);
/*
 * Waits until the thread that holds it now, if any, does not hold it any more, without taking it;
 * false at `deadline_ns` of process_now_ns(). 0: without waiting, also for a holder that came
 * since.
 */
bool shared_lock_settle(const struct shared_lock *lock, uint64_t deadline_ns);
/* The process that holds it, in a few words for people to read. True: it is stopped. */
bool shared_lock_describe(const struct shared_lock *lock, char text[64]);
