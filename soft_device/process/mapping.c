/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mapping.c -- what pinning memory finds out, found out without pinning.
 *
 * A NIC's driver pins the pages of a region, and so learns at once of a hole or of memory that may
 * not be written. The list of mappings tells the same of memory that no thread has touched yet.
 * MADV_POPULATE_* (Linux 5.14) walks the way of pinning; where the kernel lacks it, only holes are
 * found, by mincore().
 */
#include "mapping.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "maps.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool can_populate;
static uint64_t page_bytes;

static void ask_kernel(void)
{
	unsigned char on_stack = 0;
	uint64_t here = (uint64_t)(uintptr_t)&on_stack;

	page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	here -= here % page_bytes;
	can_populate = madvise((void *)(uintptr_t)here, page_bytes, MADV_POPULATE_READ) == 0;
}

static int find_hole(unsigned char *start, size_t length)
{
	unsigned char resident[256];
	const size_t step = sizeof(resident) * page_bytes;

	for (size_t done = 0; done < length; done += step) {
		size_t now = length - done < step ? length - done : step;

		if (mincore(start + done, now, resident) != 0 && errno == ENOMEM)
			return -EFAULT;
	}
	return 0;
}

/* The pages of a range: 0, or -EINVAL. */
static int whole_pages(uint64_t addr, size_t length, uint64_t *start, uint64_t *end)
{
	pthread_once(&asked, ask_kernel);
	*start = addr - addr % page_bytes;
	if (__builtin_add_overflow(addr, length, end) ||
	    __builtin_add_overflow(*end, page_bytes - 1, end))
		return -EINVAL;
	*end -= *end % page_bytes;
	return 0;
}

int mapping_populate(uint64_t addr, size_t length, bool write)
{
	uint64_t start;
	uint64_t end;
	int error = whole_pages(addr, length, &start, &end);

	if (error != 0)
		return error;
	if (!can_populate)
		return find_hole((void *)(uintptr_t)start, end - start);
	do {
		error = madvise((void *)(uintptr_t)start, end - start,
				write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	} while (error != 0 && errno == EINTR);
	/* ENOMEM is a hole, EINVAL memory not to be written; get_user_pages(): EFAULT */
	return error == 0 ? 0 : -EFAULT;
}

/* Files that are not: shared anonymous memory, System V's, memfds. */
static bool is_nameless(const char *path)
{
	static const char *const prefixes[] = {"/dev/zero", "/SYSV", "/memfd:"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return path[0] != '/';
}

/* Part of a range: up to where it is looked at, and whether all of it was found to suit. */
struct range {
	uint64_t addr;
	uint64_t end;
	bool (*suits)(const struct maps_line *line, uint64_t to, bool flag);
	bool flag;
	bool is_covered;
};

static bool visit(void *arg, const struct maps_line *line)
{
	struct range *range = arg;

	if (line->to <= range->addr)
		return true;
	if (line->from > range->addr ||
	    !range->suits(line, line->to < range->end ? line->to : range->end, range->flag))
		return false;
	range->addr = line->to;
	range->is_covered = line->to >= range->end;
	return !range->is_covered;
}

/* True if get_user_pages() would take what the mapping has up to `to`. */
static bool is_usable(const struct maps_line *line, uint64_t to, bool write)
{
	if (!(write ? line->may_write : line->may_read))
		return false;
	return line->path[0] != '/' || mapping_populate(to - page_bytes, page_bytes, false) == 0;
}

int mapping_check(uint64_t addr, size_t length, bool write)
{
	struct range range = {.suits = is_usable, .flag = write};
	int error = whole_pages(addr, length, &range.addr, &range.end);

	if (error != 0 || range.addr == range.end)
		return error;
	if (maps_visit(visit, &range) != 0)
		return mapping_populate(addr, length, write);
	return range.is_covered ? 0 : -EFAULT;
}

static bool is_shared(const struct maps_line *line, uint64_t to, bool file)
{
	(void)to;
	return line->is_shared && !(file && is_nameless(line->path));
}

static bool all_shared(uint64_t addr, size_t length, bool files)
{
	struct range range = {addr, addr + length, is_shared, files, false};

	return maps_visit(visit, &range) == 0 && range.is_covered;
}

bool mapping_is_shared(uint64_t addr, size_t length)
{
	return all_shared(addr, length, false);
}

bool mapping_is_file(uint64_t addr, size_t length)
{
	return all_shared(addr, length, true);
}
