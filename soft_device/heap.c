/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.c -- free() and its kin, watched for registered memory: an object of its own, preloaded with
 * `rpma-soft --check` alone.
 *
 * A block with a memory region in it is not given back before the region is deregistered, so its
 * address stays what the program believes it to be, and what uses it can be told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_EXPORT __attribute__((visibility("default")))

/* verbs/unmap.c */
bool rpma_soft_block_is_registered(const void *block, size_t bytes);
bool rpma_soft_block_freed(void *block, size_t bytes, void (*release)(void *block),
			   const void *caller);

static struct {
	void (*free)(void *);
	void *(*realloc)(void *, size_t);
} next;

/* dlsym() may free a message of an earlier failure: that block is lost. */
static bool has_next(void)
{
	/* volatile: dlsym() is declared not to call back */
	static _Thread_local volatile bool is_finding __attribute__((tls_model("initial-exec")));

	if (next.free != NULL && next.realloc != NULL)
		return true;
	if (is_finding)
		return false;
	is_finding = true;
	next.free = dlsym(RTLD_NEXT, "free");
	next.realloc = dlsym(RTLD_NEXT, "realloc");
	is_finding = false;
	return next.free != NULL && next.realloc != NULL;
}

static __attribute__((constructor)) void load(void)
{
	has_next();
}

static void release(void *block)
{
	next.free(block);
}

HEAP_EXPORT void free(void *block)
{
	const int saved = errno;

	if (block == NULL || !has_next())
		return;
	if (rpma_soft_block_is_registered(block, malloc_usable_size(block)) &&
	    rpma_soft_block_freed(block, malloc_usable_size(block), release, (void *)load)) {
		errno = saved;
		return;
	}
	next.free(block);
}

/* A block with a region in it is left where it is, and counts as freed. */
static void *move(void *block, size_t bytes)
{
	const size_t used = malloc_usable_size(block);
	void *made = malloc(bytes);

	if (made == NULL)
		return NULL;
	memcpy(made, block, used < bytes ? used : bytes);
	if (!rpma_soft_block_freed(block, used, release, (void *)load))
		next.free(block);
	return made;
}

HEAP_EXPORT void *realloc(void *block, size_t bytes)
{
	if (!has_next())
		return NULL;
	if (block != NULL && bytes != 0 &&
	    rpma_soft_block_is_registered(block, malloc_usable_size(block)))
		return move(block, bytes);
	return next.realloc(block, bytes);
}

HEAP_EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}
