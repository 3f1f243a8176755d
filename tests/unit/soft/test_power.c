/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_power.c -- the end of a target: a process with a file mapped and a thread that
 * writes it, killed by another process and by itself.
 *
 * The target reports over a pipe that it is ready. It is killed with a journal that knows a
 * line of its file; what the file has afterwards is looked at by opening it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_test.h"
#include "soft_device/powerfail/kill.h"
#include "soft_device/powerfail/powerfail.h"

#define LINES	   64u
#define FILE_BYTES (LINES * JOURNAL_LINE + 4096u)

struct world {
	FILE *file;
	unsigned char
		*bytes; /* its bytes, the lines first, the counter of the target's thread last */
	struct journal *journal;
	int ready[2];
};

static struct world world;

static void *map_shared(int fd, size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

static int setup(void **state)
{
	world.file = tmpfile();
	assert_non_null(world.file);
	assert_int_equal(ftruncate(fileno(world.file), FILE_BYTES), 0);
	world.bytes = map_shared(fileno(world.file), FILE_BYTES);
	world.journal = map_shared(-1, sizeof(struct journal));
	journal_init(world.journal, 5, &(struct fault_power){.at = 1});
	assert_int_equal(pipe(world.ready), 0);
	return 0;
}

static int teardown(void **state)
{
	munmap(world.bytes, FILE_BYTES);
	munmap(world.journal, sizeof(struct journal));
	fclose(world.file);
	close(world.ready[0]);
	close(world.ready[1]);
	return 0;
}

/* All lines become 0xee; before they were 1, and the even bytes alone are not durable. */
static void write_lines(void)
{
	unsigned char old[JOURNAL_LINE];

	memset(old, 1, sizeof(old));
	memset(world.bytes, 0xee, (size_t)LINES * JOURNAL_LINE);
	for (uint64_t i = 0; i < LINES; i++)
		assert_true(journal_note(world.journal, (uintptr_t)world.bytes + i * JOURNAL_LINE,
					 UINT64_C(0x5555555555555555), 1, old));
}

static _Atomic uint64_t *counter(void)
{
	return (_Atomic uint64_t *)(void *)(world.bytes + (size_t)LINES * JOURNAL_LINE);
}

static void *count_for_ever(void *arg)
{
	for (;;)
		++*counter();
	return arg;
}

static _Noreturn void target(bool kills_itself)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, count_for_ever, NULL))
		abort();
	while (*counter() == 0)
		sched_yield();
	if (kills_itself)
		powerfail_now(world.journal, getpid());
	if (write(world.ready[1], "", 1) != 1)
		abort();
	for (;;)
		pause();
}

static pid_t start_target(bool kills_itself)
{
	pid_t pid = fork();
	char byte;

	assert_true(pid >= 0);
	if (pid == 0)
		target(kills_itself);
	if (!kills_itself)
		assert_int_equal(read(world.ready[0], &byte, 1), 1);
	return pid;
}

static void assert_killed(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* Compares the file: lines as written, or with the even bytes as they were; nothing between. */
static void assert_rolled_back_in_part(void)
{
	unsigned char bytes[LINES * JOURNAL_LINE];
	unsigned back = 0;

	assert_int_equal(pread(fileno(world.file), bytes, sizeof(bytes), 0), sizeof(bytes));
	for (uint32_t line = 0; line < LINES; line++) {
		bool lost = journal_loses(world.journal, line);

		back += lost;
		for (uint32_t i = 0; i < JOURNAL_LINE; i++)
			assert_int_equal(bytes[line * JOURNAL_LINE + i],
					 lost && i % 2 == 0 ? 1 : 0xee);
	}
	assert_true(back > 0 && back < LINES);
}

TEST(another_process_ends_the_target, setup, teardown)
{
	pid_t pid;

	write_lines();
	pid = start_target(false);
	powerfail_now(world.journal, pid);
	assert_killed(pid);
	assert_rolled_back_in_part();
}

TEST(a_target_ends_itself, setup, teardown)
{
	pid_t pid;

	write_lines();
	pid = start_target(true);
	assert_killed(pid);
	assert_rolled_back_in_part();
}

TEST(what_is_unmapped_does_not_keep_it_alive, setup, teardown)
{
	unsigned char old[JOURNAL_LINE] = {0};
	void *gone = map_shared(-1, 4096);
	pid_t pid;

	for (uint64_t i = 0; i < 8; i++)
		journal_note(world.journal, (uintptr_t)gone + i * JOURNAL_LINE, UINT64_MAX, 1, old);
	munmap(gone, 4096);
	pid = start_target(true);
	assert_killed(pid);
}

/* A thread killed with the lock in hand leaves a journal that can be used. */
TEST(a_dead_holder_of_the_lock_is_survived, setup, teardown)
{
	pid_t pid;
	int status;

	write_lines();
	pid = fork();
	if (pid == 0) {
		journal_lock(world.journal);
		memset(world.journal->bucket, 0xff, sizeof(world.journal->bucket));
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	journal_lock(world.journal);
	journal_flush(world.journal, (uintptr_t)world.bytes, FILE_BYTES, 1, true);
	journal_unlock(world.journal);
	assert_int_equal(world.journal->count, 0);
}

TEST(only_shared_files_are_files, setup, teardown)
{
	int fd = fileno(world.file);
	void *private = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	int local = 0;

	assert_ptr_not_equal(private, MAP_FAILED);
	assert_int_equal(powerfail_file(world.bytes, FILE_BYTES), 1);
	assert_int_equal(powerfail_file(world.bytes + 100, 1), 1);
	assert_int_equal(powerfail_file(private, 4096), 0);
	assert_int_equal(powerfail_file(world.journal, 4096), 0); /* shared, but no file */
	assert_int_equal(powerfail_file(&local, sizeof(local)), 0);
	munmap(private, 4096);
}
