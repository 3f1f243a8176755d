/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segment.c -- the memfd of this process, the mappings of its peers', and the heap for rings.
 *
 * The heap gives whole pages: what is free costs nothing, for freed pages go back to the kernel at
 * once and come as zeroes when they are touched again. What is free is an ordered list of extents
 * in private memory, so nothing that a peer does to the segment can confuse it.
 */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_MAKE_MEM_NOACCESS(addr, bytes)			    ((void)0)
#define VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(addr, bytes) ((void)0)
#define VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(addr, bytes)  ((void)0)
#endif

#include "process.h"

#define PAGE	   4096
#define HEAP_BYTES (SEGMENT_BYTES - offsetof(struct segment, heap))
#define SEALS	   (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Free extents by address; callers of the heap hold the objects lock. */
struct extent {
	struct extent *next;
	uint64_t offset;
	uint64_t bytes;
};

static struct extent *free_extents;

static int heap_start(void)
{
	const uint64_t first = offsetof(struct segment, heap);
	struct extent *all = malloc(sizeof(*all));

	if (all == NULL)
		return -ENOMEM;
	while (free_extents != NULL) { /* the parent's, after a fork() */
		struct extent *next = free_extents->next;

		free(free_extents);
		free_extents = next;
	}
	*all = (struct extent){.offset = first, .bytes = HEAP_BYTES};
	free_extents = all;
	return 0;
}

/*
 * Neither a core file nor a child may hold what belongs to two processes. Nor may memcheck look
 * at it: it would search 4 GiB for pointers, and make every page of it by that.
 */
static void advise(struct segment *segment)
{
	madvise(segment, SEGMENT_BYTES, MADV_DONTFORK);
	madvise(segment, SEGMENT_BYTES, MADV_DONTDUMP);
	VALGRIND_DISABLE_ADDR_ERROR_REPORTING_IN_RANGE(segment->heap, HEAP_BYTES);
	VALGRIND_MAKE_MEM_NOACCESS(segment->heap, HEAP_BYTES);
}

/* NULL with errno. */
static struct segment *map(int fd)
{
	void *mapped = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    fd, 0);

	if (mapped == MAP_FAILED)
		return NULL;
	advise(mapped);
	return mapped;
}

/* Growing beyond the limit of file sizes would not fail, but kill the process with SIGXFSZ. */
static bool may_be_so_large(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= SEGMENT_BYTES;
}

static int make_file(void)
{
	int fd;
	int error;

	if (!may_be_so_large())
		return -EFBIG;
	fd = memfd_create("rpma-soft", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)SEGMENT_BYTES) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
		error = -errno;
		close(fd);
		return error;
	}
	return fd;
}

static int random_identity(uint64_t *identity)
{
	do {
		if (getrandom(identity, sizeof(*identity), 0) != (ssize_t)sizeof(*identity))
			return -errno;
	} while (*identity == 0);
	return 0;
}

static int fill(struct segment *segment)
{
	int error = random_identity(&segment->identity);

	if (error != 0)
		return error;
	segment->probe = segment->identity;
	segment->magic = SEGMENT_MAGIC;
	segment->layout = SEGMENT_LAYOUT;
	segment->bytes = SEGMENT_BYTES;
	segment->pid = getpid();
	shared_lock_init(&segment->atomics);
	return heap_start();
}

int segment_create(struct segment **segment, int *fd)
{
	struct segment *made;
	int file = make_file();
	int error;

	if (file < 0)
		return file;
	made = map(file);
	error = made == NULL ? -errno : fill(made);
	if (error != 0) {
		segment_unmap(made);
		close(file);
		return error;
	}
	*segment = made;
	*fd = file;
	return 0;
}

/* A file that could shrink would kill its readers with SIGBUS. */
static bool is_segment_file(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	int seals = fcntl(fd, F_GET_SEALS);

	return size == (off_t)SEGMENT_BYTES && seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

int segment_map(int fd, struct segment **segment)
{
	struct segment *mapped;

	if (!is_segment_file(fd))
		return -EPROTO;
	mapped = map(fd);
	if (mapped == NULL)
		return -errno;
	if (mapped->magic != SEGMENT_MAGIC || mapped->layout != SEGMENT_LAYOUT ||
	    mapped->bytes != SEGMENT_BYTES || mapped->identity == 0) {
		segment_unmap(mapped);
		return -EPROTO;
	}
	*segment = mapped;
	return 0;
}

void segment_unmap(struct segment *segment)
{
	if (segment == NULL)
		return;
	VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(segment->heap, HEAP_BYTES);
	munmap(segment, SEGMENT_BYTES);
}

/* Memcheck warns of each range that it was still to spare at exit: there is none. */
static void leave(void)
{
	VALGRIND_ENABLE_ADDR_ERROR_REPORTING_IN_RANGE(PAGE, (uintptr_t)1 << 47);
}

const struct process_part segment_part = {.leave = leave};

static uint64_t whole_pages(size_t bytes)
{
	return ((uint64_t)bytes + PAGE - 1) / PAGE * PAGE;
}

uint64_t segment_alloc(size_t bytes)
{
	const uint64_t wanted = whole_pages(bytes);
	struct extent **at = &free_extents;
	struct extent *found;
	uint64_t offset;

	if (wanted == 0 || wanted > SEGMENT_BYTES)
		return 0;
	while (*at != NULL && (*at)->bytes < wanted)
		at = &(*at)->next;
	found = *at;
	if (found == NULL)
		return 0;
	offset = found->offset;
	found->offset += wanted;
	found->bytes -= wanted;
	if (found->bytes == 0) {
		*at = found->next;
		free(found);
	}
	return offset;
}

/* Puts the extent into the list after `before` (NULL: first), one with neighbours it touches. */
static void give_back(struct extent *before, struct extent *after, uint64_t offset, uint64_t bytes)
{
	struct extent *made;

	if (before != NULL && before->offset + before->bytes == offset) {
		before->bytes += bytes;
		if (after != NULL && offset + bytes == after->offset) {
			before->bytes += after->bytes;
			before->next = after->next;
			free(after);
		}
		return;
	}
	if (after != NULL && offset + bytes == after->offset) {
		after->offset = offset;
		after->bytes += bytes;
		return;
	}
	made = malloc(sizeof(*made));
	if (made == NULL) /* address space is lost, 4 KiB or so of 4 GiB; its pages are not */
		return;
	*made = (struct extent){.next = after, .offset = offset, .bytes = bytes};
	if (before != NULL)
		before->next = made;
	else
		free_extents = made;
}

void segment_free(uint64_t offset, size_t bytes)
{
	const uint64_t whole = whole_pages(bytes);
	unsigned char *pages = segment_at(process_current->segment, offset);
	struct extent *before = NULL;
	struct extent *after = free_extents;

	if (offset == 0 || whole == 0)
		return;
	if (madvise(pages, whole, MADV_REMOVE) != 0)
		return; /* they would not come back as zeroes: never use them again */
	while (after != NULL && after->offset < offset) {
		before = after;
		after = after->next;
	}
	give_back(before, after, offset, whole);
}

struct shared_qp *segment_qp(struct segment *segment, const union ibv_gid *gid, uint32_t qpn)
{
	const uint32_t port = qpn >> 8;

	if (port == 0 || port > UINT16_MAX)
		return NULL;
	for (uint32_t block = 0; block < SEGMENT_BLOCKS; block++) {
		struct shared_block *candidate = &segment->block[block];
		struct shared_qp *qp;

		if (atomic_load(&candidate->port) != port ||
		    memcmp(&candidate->gid, gid, sizeof(*gid)) != 0)
			continue;
		qp = &segment->qp[block * 256 + (qpn & 0xff)];
		return atomic_load(&qp->qpn) == qpn ? qp : NULL;
	}
	return NULL;
}
