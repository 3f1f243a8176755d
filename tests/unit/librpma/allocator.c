/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allocator.c -- malloc, mmap and sysconf of the library under test, logged
 * and made to fail by the script of calls.h.
 *
 * Against librpma.so.0 the test executable's definitions come first in the symbol
 * search, and the caller's address tells the library from other callers. In the
 * static core the linker's --wrap does it (LIBRPMA_IS_STATIC), so that ASan and
 * valgrind keep their own malloc.
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
static int live_blocks;
static int live_mappings;

void calls_watch_allocations(bool watch)
{
	watching = watch;
}

void calls_forget_allocations(void)
{
	watching = false;
	live_blocks = 0;
	live_mappings = 0;
}

int calls_live_blocks(void)
{
	return live_blocks;
}

int calls_live_mappings(void)
{
	return live_mappings;
}

#ifdef LIBRPMA_IS_STATIC

#define INTERPOSED(name) __wrap_##name
#define ORIGINAL(name)	 __real_##name
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *block);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t len);
long __real_sysconf(int name);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *block);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *addr, size_t len);
long __wrap_sysconf(int name);

static bool from_library(const void *caller)
{
	return true; /* tests allocate nothing, the provider has calls_own_memory() */
}

#else

#define INTERPOSED(name) name
#define ORIGINAL(name)	 libc_##name
/* glibc exports these for interposers: dlsym may itself allocate */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void __libc_free(void *block);
#define libc_malloc	 __libc_malloc
#define libc_calloc	 __libc_calloc
#define libc_free	 __libc_free

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

static const void *library_base;

/* Once, as dlsym() may itself allocate when a name is not found. */
__attribute__((constructor)) static void find_library(void)
{
	Dl_info info;

	if (dladdr(dlsym(RTLD_DEFAULT, "rpma_peer_new"), &info) != 0)
		library_base = info.dli_fbase;
}

static bool from_library(const void *caller)
{
	Dl_info info;

	return library_base != NULL && dladdr(caller, &info) != 0 && info.dli_fbase == library_base;
}

#endif

void *calls_own_memory(size_t size)
{
	void *memory = ORIGINAL(calloc)(1, size);

	if (memory == NULL)
		abort();
	return memory;
}

void calls_own_free(void *memory)
{
	ORIGINAL(free)(memory);
}

/* A call of the library: true if it shall fail. */
static bool fails(const char *name)
{
	return watching && calls_fail(name);
}

void *INTERPOSED(malloc)(size_t size)
{
	if (!from_library(__builtin_return_address(0)))
		return ORIGINAL(malloc)(size);
	if (fails("malloc")) {
		errno = ENOMEM;
		return NULL;
	}
	live_blocks++;
	return ORIGINAL(malloc)(size);
}

void *INTERPOSED(calloc)(size_t count, size_t size)
{
	if (!from_library(__builtin_return_address(0)))
		return ORIGINAL(calloc)(count, size);
	if (fails("calloc")) {
		errno = ENOMEM;
		return NULL;
	}
	live_blocks++;
	return ORIGINAL(calloc)(count, size);
}

void INTERPOSED(free)(void *block)
{
	if (block != NULL && from_library(__builtin_return_address(0)))
		live_blocks--;
	ORIGINAL(free)(block);
}

void *INTERPOSED(mmap)(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (!from_library(__builtin_return_address(0)))
		return ORIGINAL(mmap)(addr, len, prot, flags, fd, off);
	if (fails("mmap")) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	live_mappings++;
	return ORIGINAL(mmap)(addr, len, prot, flags, fd, off);
}

/* A failing munmap still unmaps: the test is about the answer, not about the page. */
int INTERPOSED(munmap)(void *addr, size_t len)
{
	bool failed = false;
	int ret;

	if (from_library(__builtin_return_address(0))) {
		live_mappings--;
		failed = fails("munmap");
	}
	ret = ORIGINAL(munmap)(addr, len);
	return failed ? -1 : ret;
}

long INTERPOSED(sysconf)(int name)
{
	if (from_library(__builtin_return_address(0)) && fails("sysconf"))
		return -1;
	return ORIGINAL(sysconf)(name);
}
