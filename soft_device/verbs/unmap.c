/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unmap.c -- calls by which a program takes pages away from a region: munmap(), mmap() and mremap()
 * to a fixed address, madvise().
 *
 * A NIC has pinned the pages: it keeps using the old ones, and memory that is mapped at the
 * same address later is not its concern. Here they are gone for the device as well, and an
 * operation on them fails; but it never reaches the new memory. So the pages are noted, and what is
 * under way on them is waited for, before the kernel is called. Regions with on-demand paging
 * follow the mapping. What the C library unmaps for itself, as free() does, does not come here.
 */
#include "unmap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mr.h"
#include "qp_check.h"
#include "soft_device/check/check.h"
#include "soft_device/datapath/settle.h"
#include "soft_device/process/mapping.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Pages, from the first to before the last. */
struct range {
	uint64_t from;
	uint64_t to;
};

static const struct range nothing;

/* The next library's functions; NULL before load(). */
static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*madvise)(void *, size_t, int);
} next;

static uint64_t page_bytes;
static pthread_mutex_t unmapping = PTHREAD_MUTEX_INITIALIZER; /* from note() to settle() */

/* The range of all that was ever registered, so that most calls need no look at the table. */
static _Atomic uint64_t lowest = UINT64_MAX, highest;
#define WORDS (SEGMENT_MRS / 64u)
static _Atomic uint64_t live[WORDS];	    /* a bit for each entry of the table in use */
static _Atomic uint64_t filled[WORDS / 64]; /* a bit for each word of it that has one */
static _Atomic pid_t owner; /* without it a child by clone(2) would look at a segment it lacks */

static bool pending[SEGMENT_UNMAPPED]; /* noted by the call that is under way */
static bool is_freeing;		       /* ... which is free(); under `unmapping` */

const struct process_part unmap_part = {.lock = &unmapping};

static __attribute__((constructor)) void load(void)
{
	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	next.mmap = dlsym(RTLD_NEXT, "mmap");
	next.munmap = dlsym(RTLD_NEXT, "munmap");
	next.mremap = dlsym(RTLD_NEXT, "mremap");
	next.madvise = dlsym(RTLD_NEXT, "madvise");
}

static uint64_t page_up(uint64_t address)
{
	return (address + page_bytes - 1) / page_bytes * page_bytes;
}

/* Nothing for what no call accepts. */
static struct range pages(const void *start, size_t length)
{
	const uint64_t from = (uintptr_t)start;

	if (page_bytes == 0 || from % page_bytes != 0 || length > INT64_MAX)
		return nothing;
	return (struct range){from, page_up(from + length)};
}

void unmap_watch(uint32_t index, uint64_t addr, uint64_t length)
{
	if (addr < atomic_load(&lowest))
		atomic_store(&lowest, addr);
	if (addr + length > atomic_load(&highest))
		atomic_store(&highest, addr + length);
	atomic_store(&owner, getpid());
	atomic_fetch_or(&live[index / 64], UINT64_C(1) << index % 64);
	atomic_fetch_or(&filled[index / 64 / 64], UINT64_C(1) << index / 64 % 64);
}

/* The first bit that is set from `index` on, before `end`; else `end`, which ends a word. */
static uint32_t next_bit(const _Atomic uint64_t *words, uint32_t index, uint32_t end)
{
	while (index < end) {
		const uint64_t bits = atomic_load(&words[index / 64]) >> index % 64;

		if (bits != 0)
			return index + (uint32_t)__builtin_ctzll(bits);
		index = (index / 64 + 1) * 64;
	}
	return end;
}

/* The first entry in use from `index` on; SEGMENT_MRS: there is none. */
static uint32_t next_live(uint32_t index)
{
	uint64_t bits;

	if (index >= SEGMENT_MRS)
		return SEGMENT_MRS;
	bits = atomic_load(&live[index / 64]) >> index % 64; /* mostly in the same word */
	if (bits != 0)
		return index + (uint32_t)__builtin_ctzll(bits);
	return next_bit(live, next_bit(filled, index / 64 + 1, WORDS) * 64, SEGMENT_MRS);
}

/* --- blocks of the heap that were freed with a region in them: heap.c --- */

#define KEPT_BYTES (UINT64_C(64) << 20)

struct block {
	struct block *next;
	void *start;
	struct range range;
	void (*release)(void *start);
};

static struct block *blocks; /* objects lock */
static uint64_t kept_bytes;

/* Not one that covers more than the block, or follows the mapping. */
static bool is_inside(const struct shared_mr *mr, struct range range)
{
	return atomic_load(&mr->key) != 0 && (mr->access & IBV_ACCESS_ON_DEMAND) == 0 &&
	       mr->addr >= range.from && mr->addr + mr->length <= range.to;
}

static bool has_region(struct range range)
{
	for (uint32_t i = next_live(0); i < SEGMENT_MRS; i = next_live(i + 1))
		if (is_inside(&process_current->segment->mr[i], range))
			return true;
	return false;
}

/* Gives back the blocks without a region. Objects lock held. */
static void release_blocks(void)
{
	struct block **at = &blocks, *block;

	while ((block = *at) != NULL) {
		if (has_region(block->range)) {
			at = &block->next;
			continue;
		}
		*at = block->next;
		kept_bytes -= block->range.to - block->range.from;
		block->release(block->start);
		free(block);
	}
}

void unmap_forget(uint32_t key)
{
	struct segment *segment = process_current->segment;
	const uint32_t index = key >> 8, used = atomic_load(&segment->unmapped_used);

	atomic_fetch_and(&live[index / 64], ~(UINT64_C(1) << index % 64));
	if (atomic_load(&live[index / 64]) == 0)
		atomic_fetch_and(&filled[index / 64 / 64], ~(UINT64_C(1) << index / 64 % 64));
	if (check_any)
		release_blocks();
	if ((segment->mr[index].pd & MR_UNMAPPED) == 0)
		return;
	for (uint32_t i = 0; i < used; i++)
		if (atomic_load(&segment->unmapped[i].key) == key)
			atomic_store(&segment->unmapped[i].key, 0);
}

/* The key of this region if it has some of these pages and keeps them, else 0. */
static uint32_t key_of(const struct shared_mr *mr, struct range range)
{
	const uint32_t key = atomic_load(&mr->key);

	if (key == 0 || (mr->access & IBV_ACCESS_ON_DEMAND) != 0 || mr->addr >= range.to ||
	    mr->addr + mr->length <= range.from)
		return 0;
	return key;
}

static bool is_registered(struct range range)
{
	if (process_current == NULL || range.from >= range.to ||
	    range.from >= atomic_load(&highest) || range.to <= atomic_load(&lowest) ||
	    atomic_load(&owner) != getpid())
		return false;
	for (uint32_t i = next_live(0); i < SEGMENT_MRS; i = next_live(i + 1))
		if (key_of(&process_current->segment->mr[i], range) != 0)
			return true;
	return false;
}

/* 0, or -ENOMEM: the table is full. Objects lock held. */
static int note_for(struct segment *segment, struct shared_mr *mr, uint32_t key, struct range range)
{
	uint32_t i = 0;

	while (i < SEGMENT_UNMAPPED && atomic_load(&segment->unmapped[i].key) != 0)
		i++;
	if (i == SEGMENT_UNMAPPED)
		return -ENOMEM;
	pending[i] = true;
	atomic_store(&segment->unmapped[i].from, range.from);
	atomic_store(&segment->unmapped[i].to, range.to);
	atomic_store(&segment->unmapped[i].key, key);
	if (i >= atomic_load(&segment->unmapped_used))
		atomic_store(&segment->unmapped_used, i + 1);
	if (check_any)
		qp_check_unmapped(key, is_freeing);
	__atomic_fetch_or(&mr->pd, MR_UNMAPPED, __ATOMIC_SEQ_CST);
	return 0;
}

/* An older note of the same region that it touches takes it in. Objects lock held. */
static void merge(struct segment *segment, uint32_t at)
{
	struct shared_unmapped *one = &segment->unmapped[at];

	for (uint32_t i = 0; i < atomic_load(&segment->unmapped_used); i++) {
		struct shared_unmapped *other = &segment->unmapped[i];

		if (i == at || atomic_load(&other->key) != atomic_load(&one->key) ||
		    atomic_load(&other->from) > atomic_load(&one->to) ||
		    atomic_load(&one->from) > atomic_load(&other->to))
			continue;
		if (atomic_load(&one->from) < atomic_load(&other->from))
			atomic_store(&other->from, atomic_load(&one->from));
		if (atomic_load(&one->to) > atomic_load(&other->to))
			atomic_store(&other->to, atomic_load(&one->to));
		atomic_store(&one->key, 0);
		return;
	}
}

/* The call has been made: what was noted for it stays, or it failed and nothing was unmapped. */
static void settle(bool done)
{
	struct segment *segment = process_current->segment;

	pthread_mutex_lock(&process_objects);
	for (uint32_t i = 0; i < atomic_load(&segment->unmapped_used); i++) {
		if (!pending[i])
			continue;
		pending[i] = false;
		if (done)
			merge(segment, i);
		else
			atomic_store(&segment->unmapped[i].key, 0);
	}
	pthread_mutex_unlock(&process_objects);
}

/* No operation begins on these pages from now on, and none is under way. 0 or -ENOMEM. */
static int note(struct range range)
{
	struct segment *segment = process_current->segment;
	uint32_t settled = 0;
	int error = 0;

	pthread_mutex_lock(&process_objects);
	for (uint32_t i = next_live(0); i < SEGMENT_MRS && error == 0; i = next_live(i + 1)) {
		const uint32_t key = key_of(&segment->mr[i], range);

		if (key != 0)
			error = note_for(segment, &segment->mr[i], key, range);
	}
	pthread_mutex_unlock(&process_objects);
	atomic_thread_fence(memory_order_seq_cst);
	if (error == 0 && !settle_qps(&settled, process_now_ns() + MR_SETTLE_NS))
		process_warn(
			"a process that is stopped may still write to memory that was unmapped");
	return error;
}

SOFT_EXPORT bool rpma_soft_block_is_registered(const void *start, size_t bytes)
{
	const struct range range = {(uintptr_t)start, (uintptr_t)start + bytes};

	return check_any && process_current != NULL && range.from < atomic_load(&highest) &&
	       range.to > atomic_load(&lowest) && atomic_load(&owner) == getpid() &&
	       has_region(range);
}

/* Objects lock held; false: too many bytes are kept, or notes. */
static bool keep_block(const struct block *wanted)
{
	struct segment *segment = process_current->segment;
	struct block *made;
	bool is_noted = true;

	if (kept_bytes + (wanted->range.to - wanted->range.from) > KEPT_BYTES ||
	    (made = malloc(sizeof(*made))) == NULL)
		return false;
	for (uint32_t i = next_live(0); i < SEGMENT_MRS && is_noted; i = next_live(i + 1))
		if (is_inside(&segment->mr[i], wanted->range))
			is_noted = note_for(segment, &segment->mr[i],
					    atomic_load(&segment->mr[i].key), wanted->range) == 0;
	*made = *wanted;
	made->next = blocks;
	blocks = made;
	kept_bytes += wanted->range.to - wanted->range.from;
	return true;
}

/*
 * The block is freed, with a region in it: true, and it is kept until that is deregistered; what
 * uses it meanwhile fails. `caller` is in the object that watches free().
 */
SOFT_EXPORT bool rpma_soft_block_freed(void *start, size_t bytes, void (*release)(void *start),
				       const void *caller)
{
	const struct range range = {(uintptr_t)start, (uintptr_t)start + bytes};
	bool is_kept;

	stack_leave_out(caller);
	pthread_mutex_lock(&unmapping);
	is_freeing = true;
	pthread_mutex_lock(&process_objects);
	is_kept = keep_block(&(struct block){.start = start, .range = range, .release = release});
	pthread_mutex_unlock(&process_objects);
	settle(true);
	is_freeing = false;
	pthread_mutex_unlock(&unmapping);
	return is_kept;
}

/* A call that takes pages away: what begin() has done for it, and end() has to. */
struct unmapping {
	bool noted;
	int error; /* not 0: it must not be made */
};

static struct unmapping begin(struct range one, struct range other)
{
	struct unmapping call = {false, 0};

	if (!is_registered(one) && !is_registered(other))
		return call;
	pthread_mutex_lock(&unmapping);
	call.noted = true;
	call.error = note(one);
	if (call.error == 0)
		call.error = note(other);
	if (call.error != 0)
		errno = -call.error;
	return call;
}

static void end(const struct unmapping *call, bool done)
{
	const int saved = errno;

	if (!call->noted)
		return;
	settle(done);
	pthread_mutex_unlock(&unmapping);
	errno = saved;
}

SOFT_EXPORT int munmap(void *start, size_t length)
{
	const struct unmapping call = begin(pages(start, length), nothing);
	int ret = -1;

	if (call.error == 0)
		ret = next.munmap != NULL ? next.munmap(start, length)
					  : (int)syscall(SYS_munmap, start, length);
	end(&call, ret == 0);
	return ret;
}

/* MAP_FIXED_NOREPLACE has another bit, and replaces nothing. */
SOFT_EXPORT void *mmap(void *start, size_t length, int protection, int flags, int fd, off_t offset)
{
	const struct unmapping call =
		begin(flags & MAP_FIXED ? pages(start, length) : nothing, nothing);
	void *ret = MAP_FAILED;

	if (call.error == 0)
		ret = next.mmap != NULL ? next.mmap(start, length, protection, flags, fd, offset)
					: (void *)syscall(SYS_mmap, start, length, protection,
							  flags, fd, offset);
	end(&call, ret != MAP_FAILED);
	return ret;
}

SOFT_EXPORT void *mmap64(void *start, size_t length, int protection, int flags, int fd,
			 off64_t offset)
{
	return mmap(start, length, protection, flags, fd, offset);
}

static void *mremap_next(void *from, size_t old, size_t new, int flags, void *to)
{
	return next.mremap != NULL ? next.mremap(from, old, new, flags, to)
				   : (void *)syscall(SYS_mremap, from, old, new, flags, to);
}

/* Shrinks, or grows where it is: mremap(2) moves nothing then. */
static void *resize(void *start, size_t old, size_t new)
{
	const struct range from = pages(start, old), to = pages(start, new);
	const struct unmapping call = begin((struct range){to.to, from.to}, nothing);
	void *ret = MAP_FAILED;

	if (call.error == 0)
		ret = mremap_next(start, old, new, 0, NULL);
	end(&call, ret != MAP_FAILED);
	return ret;
}

/* An old size of 0 makes a second mapping, and takes nothing away. */
SOFT_EXPORT void *mremap(void *start, size_t old, size_t new, int flags, ...)
{
	struct unmapping call;
	void *to = NULL, *ret = MAP_FAILED;
	va_list more;

	va_start(more, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(more, void *);
	va_end(more);
	if ((flags & ~MREMAP_MAYMOVE) == 0 && old != 0) {
		ret = resize(start, old, new);
		if (ret != MAP_FAILED || errno != ENOMEM || flags == 0)
			return ret;
	}
	call = begin(pages(start, old), flags & MREMAP_FIXED ? pages(to, new) : nothing);
	if (call.error == 0)
		ret = mremap_next(start, old, new, flags, to);
	end(&call, ret != MAP_FAILED);
	return ret;
}

/*
 * Shared memory is the same after MADV_DONTNEED, for the program and for a NIC. The advice comes
 * first: the device itself gives others with each read.
 */
static bool takes_away(void *start, size_t length, int advice)
{
	if (advice != MADV_REMOVE && advice != MADV_DONTNEED && advice != MADV_DONTNEED_LOCKED)
		return false;
	return is_registered(pages(start, length)) &&
	       (advice == MADV_REMOVE || !mapping_is_shared((uintptr_t)start, length));
}

SOFT_EXPORT int madvise(void *start, size_t length, int advice)
{
	const struct unmapping call =
		begin(takes_away(start, length, advice) ? pages(start, length) : nothing, nothing);
	int ret = -1;

	if (call.error == 0)
		ret = next.madvise != NULL ? next.madvise(start, length, advice)
					   : (int)syscall(SYS_madvise, start, length, advice);
	end(&call, ret == 0);
	return ret;
}
