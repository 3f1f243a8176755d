/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c -- waiting for a lock, and finding out that its holder is dead.
 *
 * Locks are held shortly but for the bytes of a large message, so a waiter spins, then
 * sleeps a little at a time. A holder is named by its thread id and by when it started, as ids are
 * used again; a zombie is dead, too.
 */
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"

#define SPINS	    200u
#define YIELDS	    20u
#define PAUSE_NS    50000
#define LOOK_EVERY  20u /* pauses: a millisecond */
#define SOON_PAUSES 80u /* lock_wait_soon(): some milliseconds */

_Thread_local uint64_t lock_self;

/* The child's thread is another one. */
static void forget(void)
{
	lock_self = 0;
}

__attribute__((constructor)) static void watch_fork(void)
{
	pthread_atfork(NULL, NULL, forget);
}

/* Bytes of /proc/TID/stat, or -1. */
static ssize_t read_file(uint32_t tid, char *text, size_t room)
{
	const int cancel = cancel_off();
	char path[32];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, room);
		close(fd);
	}
	cancel_restore(cancel);
	return got;
}

/*
 * State and start time (clock ticks since boot) of a thread, fields 3 and 22 of
 * /proc/TID/stat (proc(5)); the second field may hold any byte, its last is a parenthesis.
 * False: no such thread, or no /proc.
 */
static bool read_stat(uint32_t tid, char *state, uint32_t *started)
{
	char text[1024], *at;
	const ssize_t got = read_file(tid, text, sizeof(text) - 1);

	if (got <= 0)
		return false;
	text[got] = '\0';
	at = strrchr(text, ')');
	if (at == NULL || at[1] != ' ')
		return false;
	*state = at[2];
	for (int field = 2; field < 22 && at != NULL; field++)
		at = strchr(at + 1, ' ');
	*started = at == NULL ? 0 : (uint32_t)strtoull(at, NULL, 10);
	return at != NULL;
}

static uint64_t self(void)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid), started;
	char state;

	if (!read_stat(tid, &state, &started))
		started = 0;
	return (uint64_t)started << 32 | tid;
}

static bool is_dead(uint64_t holder)
{
	uint32_t tid = (uint32_t)holder, started;
	char state;

	if (syscall(SYS_tkill, tid, 0) != 0 && errno == ESRCH)
		return true;
	if (!read_stat(tid, &state, &started))
		return false;
	return state == 'Z' || state == 'X' ||
	       (holder >> 32 != 0 && started != (uint32_t)(holder >> 32));
}

static bool try_take(struct shared_lock *lock, uint64_t expected)
{
	return atomic_compare_exchange_strong_explicit(&lock->holder, &expected, lock_self,
						       memory_order_seq_cst, memory_order_relaxed);
}

static void spin(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Spins, yields or sleeps a little, by how often it has been tried. */
static void pause_after(unsigned tries)
{
	int cancel;

	if (tries < SPINS) {
		spin();
	} else if (tries < SPINS + YIELDS) {
		sched_yield();
	} else {
		cancel = cancel_off();
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
		cancel_restore(cancel);
	}
}

/* How lock_wait() ends. */
enum waited { WAITED_TAKEN, WAITED_DEAD, WAITED_LONG };

static enum waited wait_for(struct shared_lock *lock, unsigned pauses)
{
	if (lock_self == 0)
		lock_self = self();
	for (unsigned tries = 0; tries < SPINS + YIELDS + pauses || pauses == 0; tries++) {
		uint64_t holder = atomic_load_explicit(&lock->holder, memory_order_relaxed);

		if (holder == 0 && try_take(lock, 0))
			return WAITED_TAKEN;
		if (holder != 0 && tries > SPINS + YIELDS && tries % LOOK_EVERY == 0 &&
		    is_dead(holder) && try_take(lock, holder))
			return WAITED_DEAD;
		pause_after(tries);
	}
	return WAITED_LONG;
}

bool lock_wait(struct shared_lock *lock)
{
	return wait_for(lock, 0) == WAITED_DEAD;
}

bool lock_wait_soon(struct shared_lock *lock)
{
	return wait_for(lock, SOON_PAUSES) != WAITED_LONG;
}

uint64_t lock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

bool shared_lock_take_now(struct shared_lock *lock)
{
	const uint64_t holder = atomic_load(&lock->holder);

	if (lock_self == 0)
		lock_self = self();
	return (holder == 0 || is_dead(holder)) && try_take(lock, holder);
}

bool shared_lock_settle(const struct shared_lock *lock, uint64_t deadline_ns)
{
	const uint64_t holder = atomic_load(&lock->holder);

	if (deadline_ns == 0)
		return holder == 0 || is_dead(holder);
	for (unsigned tries = 0; holder != 0 && atomic_load(&lock->holder) == holder; tries++) {
		if (tries >= SPINS + YIELDS) {
			if (is_dead(holder))
				return true;
			if (lock_now_ns() >= deadline_ns)
				return false;
		}
		pause_after(tries);
	}
	return true;
}

/* The number behind `field` in the status of a thread (proc(5)); 0: unknown. */
static unsigned read_status(uint32_t tid, const char *field)
{
	const size_t bytes = strlen(field);
	char path[32], line[256];
	unsigned value = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (value == 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, field, bytes) == 0)
			value = (unsigned)strtoul(line + bytes, NULL, 10);
	fclose(file);
	return value;
}

bool shared_lock_describe(const struct shared_lock *lock, char text[64])
{
	const uint64_t holder = atomic_load(&lock->holder);
	uint32_t started;
	char state = '?';
	bool stopped;

	read_stat((uint32_t)holder, &state, &started);
	stopped = state == 'T' || state == 't';
	snprintf(text, 64, "process %u%s", read_status((uint32_t)holder, "Tgid:"),
		 stopped ? ", which is stopped," : "");
	return stopped;
}
