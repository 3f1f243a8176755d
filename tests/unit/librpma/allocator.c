/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allocator.c -- malloc, mmap and sysconf of the library under test, logged
 * and made to fail by the script of calls.h.
 *
 * With librpma.so.0 the test executable's definitions come first in the symbol
 * search, and the caller's address tells the library from everybody else.
 * With the static core the linker's --wrap does it (LIBRPMA_IS_STATIC), so that
 * ASan and valgrind keep their own malloc.
 */
#define _GNU_SOURCE /* dladdr, RTLD_NEXT */
#include "calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static bool watching;

void calls_watch_allocations(bool watch)
{
	watching = watch;
}

#ifdef LIBRPMA_IS_STATIC

#define INTERPOSED(name) __wrap_##name
#define ORIGINAL(name)	 __real_##name
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t len);
long __real_sysconf(int name);

static bool from_library(const void *caller)
{
	(void)caller;
	return watching;
}

#else

#define INTERPOSED(name) name
#define ORIGINAL(name)	 libc_##name
/* glibc exports these two for interposers: dlsym may itself allocate */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
#define libc_malloc	 __libc_malloc
#define libc_calloc	 __libc_calloc

static void *libc_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *(*next)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap");

	return next(addr, len, prot, flags, fd, off);
}

static int libc_munmap(void *addr, size_t len)
{
	int (*next)(void *, size_t) = dlsym(RTLD_NEXT, "munmap");

	return next(addr, len);
}

static long libc_sysconf(int name)
{
	long (*next)(int) = dlsym(RTLD_NEXT, "sysconf");

	return next(name);
}

static bool from_library(const void *caller)
{
	Dl_info caller_info, library_info;

	return watching && dladdr(caller, &caller_info) != 0 &&
	       dladdr(dlsym(RTLD_DEFAULT, "rpma_peer_new"), &library_info) != 0 &&
	       caller_info.dli_fbase == library_info.dli_fbase;
}

#endif

void *calls_own_memory(size_t size)
{
	void *memory = ORIGINAL(calloc)(1, size);

	if (memory == NULL)
		abort();
	return memory;
}

void *INTERPOSED(malloc)(size_t size)
{
	if (from_library(__builtin_return_address(0)) && calls_fail("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return ORIGINAL(malloc)(size);
}

void *INTERPOSED(calloc)(size_t count, size_t size)
{
	if (from_library(__builtin_return_address(0)) && calls_fail("calloc")) {
		errno = ENOMEM;
		return NULL;
	}
	return ORIGINAL(calloc)(count, size);
}

void *INTERPOSED(mmap)(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (from_library(__builtin_return_address(0)) && calls_fail("mmap")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return ORIGINAL(mmap)(addr, len, prot, flags, fd, off);
}

/* A failing munmap still unmaps: the test is about the answer, not about the page. */
int INTERPOSED(munmap)(void *addr, size_t len)
{
	int ret;

	if (!from_library(__builtin_return_address(0)))
		return ORIGINAL(munmap)(addr, len);
	ret = ORIGINAL(munmap)(addr, len);
	if (calls_fail("munmap"))
		ret = -1;
	return ret;
}

long INTERPOSED(sysconf)(int name)
{
	if (from_library(__builtin_return_address(0)) && calls_fail("sysconf"))
		return -1;
	return ORIGINAL(sysconf)(name);
}
