/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist.c -- what the target's own CPU makes durable: the calls that programs
 * make for it, watched.
 *
 * msync(), fsync() and fdatasync() of libc and pmem_persist(), pmem_flush() and pmem_drain()
 * of libpmem are exported under their own names. They do what the next library's do and then,
 * in a target whose power can fail, tell the journal. sync(), the stores of
 * pmem_memcpy() and flush instructions written by hand are not seen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "journal.h"
#include "powerfail.h"
#include "soft_device/process/maps.h"
#include "soft_device/process/process.h"

/* Declared by libpmem.h, which is not needed to build the device. */
void pmem_flush(const void *addr, size_t length);
void pmem_drain(void);
void pmem_persist(const void *addr, size_t length);

/* The next library's functions; NULL where there is none, or before load(). */
static struct {
	int (*msync)(void *, size_t, int);
	int (*fsync)(int);
	int (*fdatasync)(int);
	void (*persist)(const void *, size_t);
	void (*flush)(const void *, size_t);
	void (*drain)(void);
} next;

static __attribute__((constructor)) void load(void)
{
	next.msync = dlsym(RTLD_NEXT, "msync");
	next.fsync = dlsym(RTLD_NEXT, "fsync");
	next.fdatasync = dlsym(RTLD_NEXT, "fdatasync");
	next.persist = dlsym(RTLD_NEXT, "pmem_persist");
	next.flush = dlsym(RTLD_NEXT, "pmem_flush");
	next.drain = dlsym(RTLD_NEXT, "pmem_drain");
}

/* NULL in a child of fork() as well: it has no device yet. */
struct journal *powerfail_own_journal(void)
{
	if (!powerfail_any || process_current == NULL || process_current->segment == NULL ||
	    process_current->segment->pid != getpid())
		return NULL;
	return segment_at(process_current->segment, process_current->segment->powerfail);
}

static void flushed(const void *addr, size_t length)
{
	struct journal *journal = powerfail_own_journal();

	if (journal == NULL)
		return;
	journal_lock(journal);
	journal_cpu_flush(journal, (uintptr_t)addr, length, gettid());
	journal_unlock(journal);
}

static void drained(void)
{
	struct journal *journal = powerfail_own_journal();

	if (journal == NULL)
		return;
	journal_lock(journal);
	journal_cpu_drain(journal, gettid());
	journal_unlock(journal);
}

static int msync_next(void *addr, size_t length, int flags)
{
	return next.msync != NULL ? next.msync(addr, length, flags)
				  : (int)syscall(SYS_msync, addr, length, flags);
}

SOFT_EXPORT int msync(void *addr, size_t length, int flags)
{
	int ret = msync_next(addr, length, flags);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (powerfail_any && ret == 0 && (flags & MS_SYNC)) {
		flushed(addr, (length + page - 1) / page * page);
		drained();
	}
	return ret;
}

/* A program may have found the name here and have no libpmem. */
static void msync_pages(const void *addr, size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)addr / page * page;

	msync_next((void *)start, (uintptr_t)addr + length - start, MS_SYNC); /* NOLINT */
}

static bool flush_mapping(void *path, const struct maps_line *line)
{
	if (line->is_shared && strcmp(path, line->path) == 0)
		flushed((const void *)(uintptr_t)line->from, line->to - line->from);
	return true;
}

static void file_flushed(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t length;
	int saved = errno;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length > 0) {
		path[length] = '\0';
		maps_visit(flush_mapping, path);
		drained();
	}
	errno = saved;
}

SOFT_EXPORT int fsync(int fd)
{
	int ret = next.fsync != NULL ? next.fsync(fd) : (int)syscall(SYS_fsync, fd);

	if (powerfail_any && ret == 0)
		file_flushed(fd);
	return ret;
}

SOFT_EXPORT int fdatasync(int fd)
{
	int ret = next.fdatasync != NULL ? next.fdatasync(fd) : (int)syscall(SYS_fdatasync, fd);

	if (powerfail_any && ret == 0)
		file_flushed(fd);
	return ret;
}

SOFT_EXPORT void pmem_flush(const void *addr, size_t length)
{
	if (next.flush != NULL)
		next.flush(addr, length);
	else
		msync_pages(addr, length);
	if (powerfail_any)
		flushed(addr, length);
}

SOFT_EXPORT void pmem_drain(void)
{
	if (next.drain != NULL)
		next.drain();
	if (powerfail_any)
		drained();
}

SOFT_EXPORT void pmem_persist(const void *addr, size_t length)
{
	if (next.persist != NULL)
		next.persist(addr, length);
	else
		msync_pages(addr, length);
	if (powerfail_any) {
		flushed(addr, length);
		drained();
	}
}
