/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapping.c -- maps parts with MAP_SYNC where the file system has it.
 */
#include "mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "common/host/file_medium.h"
#include "common/host/file_sync.h"
#include "devdax.h"
#include "reason.h"

/* The variable of libpmem(7), for tests: 1 and 0 overrule what the file is. */
#define FORCE "PMEM_IS_PMEM_FORCE"

static bool is_forced(const char *value)
{
	const char *force = getenv(FORCE);

	return force != NULL && strcmp(force, value) == 0;
}

static enum target_kind kind_of_file(int fd)
{
	switch (file_medium(fd)) {
	case FILE_MEDIUM_MEMORY:
		return TARGET_MEMFILE;
	case FILE_MEDIUM_STORAGE:
		return TARGET_FILE;
	default:
		return TARGET_OTHERFILE;
	}
}

/*
 * The kernel unmaps what MAP_FIXED replaces before it asks the file system, whose refusal leaves a
 * hole there: mmap_region() in mm/mmap.c, ext4_file_mmap() in fs/ext4/file.c.
 * Another thread's mmap() may take the hole, and would lose its memory to the next MAP_FIXED. So
 * what may be refused is tried at any address first.
 */
static void *map_at(void *at, size_t bytes, int flags, int fd, uint64_t offset)
{
	const int access = PROT_READ | PROT_WRITE;
	void *memory = mmap(NULL, bytes, access, flags, fd, (off_t)offset);

	if (memory == MAP_FAILED || at == NULL)
		return memory;
	munmap(memory, bytes);
	return mmap(at, bytes, access, flags | MAP_FIXED, fd, (off_t)offset);
}

/* MAP_SYNC works on DAX file systems alone, so success is what tells fsdax. */
static int map(struct target *t, const struct pool_file *file, void *at, uint64_t file_offset)
{
	const size_t bytes = t->size_bytes;

	t->kind = TARGET_FSDAX;
	t->memory = map_at(at, bytes, MAP_SHARED_VALIDATE | MAP_SYNC, file->fd, file_offset);
	if (t->memory == MAP_FAILED) {
		t->kind = kind_of_file(file->fd);
		t->memory = map_at(at, bytes, MAP_SHARED, file->fd, file_offset);
	}
	if (file->device != 0)
		t->kind = file->is_volatile ? TARGET_MEMFILE : TARGET_DEVDAX;
	if (t->memory != MAP_FAILED)
		return 0;
	t->memory = NULL;
	return -errno;
}

/* Which method makes it durable: device DAX has one only. */
static int choose_persist(struct mapping *mapping)
{
	struct target target = mapping->target;

	mapping->is_pmem = target.kind == TARGET_DEVDAX || target.kind == TARGET_FSDAX;
	if (is_forced("1") || is_forced("0"))
		mapping->is_pmem = is_forced("1");
	if (target.kind != TARGET_DEVDAX && mapping->is_pmem)
		target.kind = TARGET_FSDAX;
	else if (target.kind == TARGET_FSDAX)
		target.kind = TARGET_FILE;
	if (persist_open(&mapping->persist, &target) != 0)
		return -ENOTSUP;
	if (mapping->persist.method == PERSIST_NOTHING)
		return reason_set(ENOTSUP,
				  "the part %s is %s, which loses it with the power: " FORCE
				  "=1 in rpmemd's environment allows it",
				  target.path,
				  mapping->device != 0
					  ? "device DAX of no persistent memory (nd_pmem)"
					  : "on a file system in memory");
	return 0;
}

int mapping_open(struct mapping *mapping, const struct pool_file *file, void *at, size_t bytes,
		 uint64_t file_offset)
{
	struct mapping made = {
		.target = {.size_bytes = bytes, .path = file->path, .sync = file->sync},
		.device = file->device};
	int ret = map(&made.target, file, at, file_offset);

	if (ret)
		return reason_set(-ret,
				  "cannot map %zu bytes of the part %s from offset %" PRIu64 ": %s",
				  bytes, file->path, file_offset, strerror(-ret));
	ret = choose_persist(&made);
	if (ret == 0)
		*mapping = made;
	else if (at == NULL) /* else its owner unmaps it with all that is reserved */
		mapping_close(&made);
	return ret;
}

void mapping_close(struct mapping *mapping)
{
	if (mapping->target.memory != NULL)
		munmap(mapping->target.memory, mapping->target.size_bytes);
	memset(mapping, 0, sizeof(*mapping));
}

int mapping_persist(const struct mapping *mapping, size_t offset, size_t length)
{
	if (persist_range(&mapping->persist, offset, length) == PERSIST_DONE)
		return 0;
	return reason_set(EIO, "cannot persist %zu bytes at offset %zu of the part %s: %s", length,
			  offset, mapping->target.path, strerror(errno));
}

int mapping_deep_persist(const struct mapping *mapping, size_t offset, size_t length)
{
	const struct persist *p = &mapping->persist;
	int ret = mapping_persist(mapping, offset, length);

	if (ret || p->method == PERSIST_MSYNC)
		return ret;
	/* for a file on DAX, msync(2) flushes the memory controllers too */
	ret = mapping->device != 0 ? devdax_deep_flush(DEVDAX_SYSFS, mapping->device)
				   : file_sync_range(p->sync, p->memory + offset, length);
	return ret ? reason_set(EIO, "cannot flush the part %s down to its medium: %s",
				mapping->target.path, strerror(-ret))
		   : 0;
}
