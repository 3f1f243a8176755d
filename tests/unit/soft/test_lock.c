// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_lock.c -- the lock that processes share: it excludes, and it outlives a
 * holder that dies, reaped or not, a thread or a process.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soft_device/process/lock.h"
#include "tests/lib/test.h"

#define ROUNDS 100000

/* Memory that two processes share. */
static struct shared {
	struct shared_lock lock;
	uint64_t count;
} * shared;

static int setup(void **unused)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	shared_lock_init(&shared->lock);
	return 0;
}

static int teardown(void **unused)
{
	return munmap(shared, sizeof(*shared));
}

static void *count(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		shared_lock_take(&shared->lock);
		shared->count++;
		shared_lock_release(&shared->lock);
	}
	return NULL;
}

static void *take(void *unused)
{
	shared_lock_take(&shared->lock);
	return NULL;
}

TEST(lock__excludes_threads, setup, teardown)
{
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, count, NULL), 0);
	count(NULL);
	pthread_join(other, NULL);
	assert_int_equal(shared->count, 2 * ROUNDS);
}

TEST(lock__excludes_processes, setup, teardown)
{
	pid_t other = fork();

	count(NULL);
	if (other == 0)
		_exit(0);
	assert_int_equal(waitpid(other, NULL, 0), other);
	assert_int_equal(shared->count, 2 * ROUNDS);
}

/* A process that has taken the lock and been killed; a zombie until it is waited for. */
static pid_t dead_holder(void)
{
	siginfo_t info;
	pid_t holder = fork();

	if (holder == 0) {
		shared_lock_take(&shared->lock);
		raise(SIGKILL);
	}
	assert_int_equal(waitid(P_PID, (id_t)holder, &info, WEXITED | WNOWAIT), 0);
	return holder;
}

TEST(lock__of_a_killed_process_is_inherited, setup, teardown)
{
	assert_int_equal(waitpid(dead_holder(), NULL, 0) > 0, 1);
	assert_true(shared_lock_take(&shared->lock));
	shared_lock_release(&shared->lock);
	assert_false(shared_lock_take(&shared->lock));
}

TEST(lock__of_a_zombie_is_inherited, setup, teardown)
{
	pid_t holder = dead_holder();

	assert_true(shared_lock_take(&shared->lock));
	assert_int_equal(waitpid(holder, NULL, 0), holder);
}

TEST(lock__of_an_ended_thread_is_inherited, setup, teardown)
{
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, take, NULL), 0);
	pthread_join(other, NULL);
	assert_true(shared_lock_take(&shared->lock));
}

/* Thread ids are used again; the one that has this id now is not the holder. */
TEST(lock__of_another_start_time_is_inherited, setup, teardown)
{
	shared_lock_take(&shared->lock);
	atomic_fetch_add(&shared->lock.holder, UINT64_C(1) << 32);
	assert_true(shared_lock_take(&shared->lock));
}
