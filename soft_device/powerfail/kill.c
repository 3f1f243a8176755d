/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kill.c -- stops a target, rolls a part of its undurable lines back, and kills
 * it; another process does that, or the target itself.
 *
 * The lines are restored in the target's memory, where they are a shared mapping of a
 * file: the file has them, too. A process that does it to itself has a child do it, as a
 * stopped process does nothing more; what the child inherits as a shared mapping is the
 * file as well. Such a child must not allocate or take locks: threads it has no copy of may
 * hold any. It is made by the bare system call, so that no handler of fork() runs.
 */
#include "kill.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define STOP_NS UINT64_C(1000000000) /* beyond this a thread sleeps in the kernel */

/* An entry of getdents64(2). */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

/* A thread that is stopped, traced, or at its end: proc_pid_stat(5). */
static bool thread_is_still(pid_t process, const char *thread)
{
	char path[64], stat[512];
	const char *state;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)process, thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* it has ended */
	got = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	if (got <= 0)
		return true;
	stat[got] = '\0';
	state = strrchr(stat, ')');
	return state != NULL && state[1] == ' ' && strchr("TtZX", state[2]) != NULL;
}

static bool threads_are_still(pid_t process)
{
	_Alignas(struct entry) char entries[4096];
	char path[64];
	bool still = true;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return true;
	while (still && (got = syscall(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct entry *entry =
				(const struct entry *)(const void *)&entries[at];

			if (entry->name[0] != '.')
				still = still && thread_is_still(process, entry->name);
			at += entry->length;
		}
	}
	close(fd);
	return still;
}

static void stop_threads(pid_t process)
{
	uint64_t until_ns = lock_now_ns() + STOP_NS;

	kill(process, SIGSTOP);
	while (!threads_are_still(process) && lock_now_ns() < until_ns)
		sched_yield();
}

/*
 * Writes the undurable bytes of a line, each run of neighbours at once. A child of the
 * target that may not write to it does so in what it inherited.
 */
static bool restore(pid_t target, bool is_child, const struct journal_line *line)
{
	bool restored = true;

	for (unsigned i = 0; i < JOURNAL_LINE; i++) {
		unsigned first = i;

		while (i < JOURNAL_LINE && line->mask >> i & 1)
			i++;
		if (i == first)
			continue;
		void *there = (void *)(uintptr_t)(line->addr + first); /* NOLINT: the target's */
		struct iovec local = {(void *)(uintptr_t)&line->old[first], i - first};
		struct iovec remote = {there, i - first};

		if (process_vm_writev(target, &local, 1, &remote, 1, 0) == (ssize_t)(i - first))
			continue;
		if (is_child && errno != EFAULT)
			memcpy(there, &line->old[first], i - first);
		else
			restored = false;
	}
	return restored;
}

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
	char text[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
		return; /* no peer to tell */
}

static void fail(const struct journal *journal, pid_t target, bool is_child)
{
	uint32_t back = 0, unmapped = 0;

	stop_threads(target);
	for (uint32_t i = 0; i < journal->count; i++) {
		if (!journal_loses(journal, i))
			continue;
		if (restore(target, is_child, &journal->line[i]))
			back++;
		else
			unmapped++;
	}
	say("rpma-soft: power fails at operation %" PRIu64 " of process %d (seed %" PRIu64
	    ", domain=%s, ddio=%s): %u lines not durable, %u rolled back\n",
	    journal->at, (int)target, journal->seed, journal->eadr ? "eadr" : "adr",
	    journal->ddio ? "on" : "off", journal->count, back);
	if (unmapped > 0)
		say("rpma-soft: %u lines were not mapped any more and keep what was written\n",
		    unmapped);
	kill(target, SIGKILL);
}

static _Noreturn void fail_self(struct journal *journal)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)journal / page * page;
	pid_t target = getpid();
	sigset_t all;
	long child;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	/* the segment is kept from children otherwise */
	madvise((void *)start, (uintptr_t)(journal + 1) - start, MADV_DOFORK); /* NOLINT */
	child = syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
	if (child == 0) {
		fail(journal, target, true);
		syscall(SYS_exit_group, 0);
	}
	if (child < 0)
		kill(target, SIGKILL);
	for (;;)
		pause();
}

void powerfail_now(struct journal *journal, pid_t target)
{
	if (target == getpid())
		fail_self(journal);
	fail(journal, target, false);
}
