/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c -- from a pool set to its parts, mapped one after another. */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/base/failure.h"
#include "mapping.h"
#include "pool_set.h"
#include "reason.h"

static int remove_part(const struct pool_files *files, size_t i)
{
	if (files->layout[i].is_dax)
		return pool_headers_clear(files, i);
	return pool_files_unlink(&files->files[i]);
}

/* Goes on after a failure; the first one is given. */
static int remove_parts(const struct pool_files *files)
{
	struct failure failure = {.text = ""};
	int first = 0;

	for (size_t i = 0; i < files->count; i++) {
		const int ret = remove_part(files, i);

		if (ret && first == 0) {
			first = ret;
			failure = *failure_get();
		}
	}
	if (first)
		*failure_get() = failure;
	return first;
}

static int remove_set(const struct pool_set *set, bool force)
{
	const enum pool_files_use use = force ? POOL_FILES_REMOVE : POOL_FILES_INSPECT;
	struct rpmem_pool_attr attr;
	struct pool_files files;
	int ret = pool_files_find(&files, set, use);

	if (ret == 0)
		ret = pool_files_open(&files, use);
	if (ret == 0 && !force) /* a pool that could not be opened is inconsistent */
		ret = pool_headers_open(&files, set, &attr);
	if (ret == 0)
		ret = remove_parts(&files);
	pool_files_close(&files, false);
	return ret;
}

int pool_remove(const char *directory, const char *name, bool force, bool with_set)
{
	struct pool_set set;
	int ret = set_file_read(directory, name, &set);

	if (ret)
		return ret;
	ret = remove_set(&set, force);
	pool_set_free(&set);
	return ret == 0 && with_set ? set_file_remove(directory, name) : ret;
}

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct pool {
	struct pool_set set;
	struct pool_files files;
	struct mapping *parts; /* as many as files, those not mapped yet are zeros */
	void *reserved;	       /* the addresses of all parts, and of what aligns them */
	size_t reserved_bytes;
	unsigned char *memory; /* the first part is there */
};

static bool has_headers(const struct pool_set *set)
{
	return pool_layout_headers(set) > 0;
}

/* --- opening -------------------------------------------------------------------------- */

static int check_size(const struct pool *pool, const char *name, size_t size)
{
	if (pool->files.bytes >= size)
		return 0;
	return reason_set(EFBIG, "the pool %s has %zu bytes: expected %zu or more", name,
			  pool->files.bytes, size);
}

/* Reads the set, and compares sizes before any part is touched. */
static int find(struct pool *pool, const char *directory, const char *name, size_t size,
		enum pool_files_use use)
{
	int ret = set_file_read(directory, name, &pool->set);

	if (ret == 0)
		ret = pool_files_find(&pool->files, &pool->set, use);
	return ret ? ret : check_size(pool, name, size);
}

/* Addresses for all parts, aligned as the parts want it and as huge pages need it. */
static int reserve(struct pool *pool)
{
	size_t alignment = HUGE_PAGE_BYTES;
	uintptr_t at;

	for (size_t i = 0; i < pool->files.count; i++) {
		if (pool->files.layout[i].alignment > alignment)
			alignment = pool->files.layout[i].alignment;
	}
	pool->reserved_bytes = pool->files.bytes + alignment;
	pool->reserved = mmap(NULL, pool->reserved_bytes, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (pool->reserved == MAP_FAILED) {
		pool->reserved = NULL;
		return reason_set(errno, "cannot reserve addresses for a pool of %zu bytes: %s",
				  pool->files.bytes, strerror(errno));
	}
	at = (uintptr_t)pool->reserved;
	pool->memory = (unsigned char *)pool->reserved + (alignment - at % alignment) % alignment;
	return 0;
}

static int map_parts(struct pool *pool)
{
	const struct pool_files *files = &pool->files;
	int ret = reserve(pool);

	if (ret)
		return ret;
	pool->parts = calloc(files->count, sizeof(*pool->parts));
	if (pool->parts == NULL)
		return reason_set(ENOMEM, "out of memory");
	for (size_t i = 0; ret == 0 && i < files->count; i++) {
		const struct pool_layout_part *part = &files->layout[i];

		ret = mapping_open(&pool->parts[i], &files->files[i], pool->memory + part->offset,
				   part->length, part->file_offset);
	}
	return ret;
}

/* The stored attributes: whether the first part alone has a header is a fact of the set. */
static int take_attr(const struct pool_set *set, const struct rpmem_pool_attr *attr,
		     struct rpmem_pool_attr *stored)
{
	if (attr->incompat_features & POOL_HEADER_SINGLE && !set->single_header)
		return reason_set(EINVAL,
				  "the pool's attributes have incompat_features 0x%x with "
				  "the bit of SINGLEHDR: the pool set has no such option",
				  attr->incompat_features);
	*stored = *attr;
	if (set->single_header)
		stored->incompat_features |= POOL_HEADER_SINGLE;
	return 0;
}

static int check_attr(const struct pool_set *set, const char *name,
		      const struct rpmem_pool_attr *attr)
{
	if (has_headers(set) && pool_header_no_attr(attr))
		return reason_set(
			EINVAL, "a pool without attributes needs OPTION NOHDRS in its pool set %s",
			name);
	if (!has_headers(set) && !pool_header_no_attr(attr))
		return reason_set(EINVAL,
				  "a pool with attributes has headers: its pool set %s has OPTION "
				  "NOHDRS",
				  name);
	return 0;
}

static int create(struct pool *pool, const char *directory, const char *name, size_t size,
		  const struct rpmem_pool_attr *attr)
{
	struct rpmem_pool_attr stored = {.major = 0};
	int ret = find(pool, directory, name, size, POOL_FILES_CREATE);

	if (ret == 0)
		ret = check_attr(&pool->set, name, attr);
	if (ret == 0 && has_headers(&pool->set))
		ret = take_attr(&pool->set, attr, &stored);
	if (ret == 0)
		ret = pool_files_open(&pool->files, POOL_FILES_CREATE);
	if (ret == 0)
		ret = pool_headers_check_empty(&pool->files, &pool->set);
	if (ret == 0)
		ret = map_parts(pool);
	return ret ? ret : pool_headers_create(&pool->files, &pool->set, &stored);
}

static int map_existing(struct pool *pool, const char *directory, const char *name, size_t size,
			enum pool_files_use use, struct rpmem_pool_attr *attr)
{
	int ret = find(pool, directory, name, size, use);

	if (ret == 0)
		ret = pool_files_open(&pool->files, use);
	if (ret == 0)
		ret = pool_headers_open(&pool->files, &pool->set, attr);
	return ret ? ret : map_parts(pool);
}

/* Gives the pool, or closes what there is of it: its failure stays the stored one. */
static int finish(struct pool *made, int ret, struct pool **pool)
{
	const struct failure failure = *failure_get();

	if (ret == 0) {
		*pool = made;
		return 0;
	}
	pool_close(&made, true);
	*failure_get() = failure;
	return ret;
}

int pool_create(struct pool **pool, const char *directory, const char *name, size_t size,
		const struct rpmem_pool_attr *attr)
{
	struct pool *made = calloc(1, sizeof(*made));

	if (made == NULL)
		return reason_set(ENOMEM, "out of memory");
	return finish(made, create(made, directory, name, size, attr), pool);
}

static int open_for(struct pool **pool, const char *directory, const char *name, size_t size,
		    enum pool_files_use use, struct rpmem_pool_attr *attr)
{
	struct pool *opened = calloc(1, sizeof(*opened));

	if (opened == NULL)
		return reason_set(ENOMEM, "out of memory");
	memset(attr, 0, sizeof(*attr));
	return finish(opened, map_existing(opened, directory, name, size, use, attr), pool);
}

int pool_open(struct pool **pool, const char *directory, const char *name, size_t size,
	      struct rpmem_pool_attr *attr)
{
	return open_for(pool, directory, name, size, POOL_FILES_OPEN, attr);
}

int pool_inspect(struct pool **pool, const char *directory, const char *name, size_t size,
		 struct rpmem_pool_attr *attr)
{
	return open_for(pool, directory, name, size, POOL_FILES_INSPECT, attr);
}

/* --- attributes and the end ----------------------------------------------------------- */

int pool_set_attr(struct pool *pool, const struct rpmem_pool_attr *attr)
{
	static const struct rpmem_pool_attr none;
	struct rpmem_pool_attr stored;
	int ret;

	if (!has_headers(&pool->set) && !pool_header_no_attr(attr))
		return reason_set(EINVAL, "a pool without headers has no attributes");
	ret = take_attr(&pool->set, attr != NULL ? attr : &none, &stored);
	return ret ? ret : pool_headers_change(&pool->files, &pool->set, &stored);
}

/* The parts that were there before pool_create() stay, without its headers. */
static void clear_headers(const struct pool_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		if (files->files[i].header_made)
			pool_headers_clear(files, i);
	}
}

void pool_close(struct pool **pool, bool remove)
{
	struct pool *p = *pool;

	if (p == NULL)
		return;
	if (remove)
		clear_headers(&p->files);
	/* at once: the address of one part alone could be taken by another thread */
	if (p->reserved != NULL)
		munmap(p->reserved, p->reserved_bytes);
	free(p->parts);
	pool_files_close(&p->files, remove);
	pool_set_free(&p->set);
	free(p);
	*pool = NULL;
}

/* --- a pool in use -------------------------------------------------------------------- */

unsigned char *pool_memory(const struct pool *pool)
{
	return pool->memory;
}

size_t pool_size(const struct pool *pool)
{
	return pool->files.bytes;
}

bool pool_has_headers(const struct pool *pool)
{
	return has_headers(&pool->set);
}

size_t pool_parts(const struct pool *pool)
{
	return pool->files.count;
}

const char *pool_part_path(const struct pool *pool, size_t part)
{
	return pool->parts[part].target.path;
}

bool pool_is_pmem(const struct pool *pool)
{
	for (size_t i = 0; i < pool->files.count; i++) {
		if (!pool->parts[i].is_pmem)
			return false;
	}
	return true;
}

enum target_kind pool_kind(const struct pool *pool)
{
	/* from the weakest */
	static const enum target_kind order[] = {TARGET_MEMFILE, TARGET_OTHERFILE, TARGET_FILE,
						 TARGET_FSDAX};

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (size_t i = 0; i < pool->files.count; i++) {
			if (pool->parts[i].target.kind == order[k])
				return order[k];
		}
	}
	return TARGET_DEVDAX;
}

typedef int persist_part(const struct mapping *part, size_t offset, size_t length);

static int persist_parts(const struct pool *pool, size_t offset, size_t length,
			 persist_part *persist)
{
	int ret = 0;

	if (offset >= pool->files.bytes || length > pool->files.bytes - offset)
		return reason_set(EINVAL,
				  "%zu bytes at offset %zu are not within the pool of %zu bytes",
				  length, offset, pool->files.bytes);
	for (size_t i = 0; ret == 0 && length > 0; i++) {
		const struct pool_layout_part *part = &pool->files.layout[i];
		size_t here;

		if (offset >= part->offset + part->length)
			continue;
		here = part->offset + part->length - offset;
		if (here > length)
			here = length;
		ret = persist(&pool->parts[i], offset - part->offset, here);
		offset += here;
		length -= here;
	}
	return ret;
}

int pool_persist(const struct pool *pool, size_t offset, size_t length)
{
	return persist_parts(pool, offset, length, mapping_persist);
}

int pool_deep_persist(const struct pool *pool, size_t offset, size_t length)
{
	return persist_parts(pool, offset, length, mapping_deep_persist);
}
