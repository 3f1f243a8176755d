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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* One line of /proc/self/maps (proc(5)): "from-to rwxs offset device inode   path". */
struct map_line {
	uint64_t from;
	uint64_t to;
	bool may_read;
	bool may_write;
	bool is_shared;
	const char *path; /* "" or "\n": none */
};

/* False for the rest of a line that was too long. */
static bool parse(char *line, struct map_line *map)
{
	char *at = line;

	map->from = strtoull(at, &at, 16);
	if (*at++ != '-')
		return false;
	map->to = strtoull(at, &at, 16);
	if (strlen(at) < 6 || at[0] != ' ' || at[5] != ' ')
		return false;
	map->may_read = at[1] == 'r';
	map->may_write = at[2] == 'w';
	map->is_shared = at[4] == 's';
	at += 5;
	for (int field = 0; field < 3; field++) { /* offset, device, inode */
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	map->path = at + strspn(at, " ");
	return true;
}

/* True if get_user_pages() would take what the mapping has up to `to`. */
static bool is_usable(const struct map_line *map, uint64_t to, bool write)
{
	if (!(write ? map->may_write : map->may_read))
		return false;
	return map->path[0] != '/' || mapping_populate(to - page_bytes, page_bytes, false) == 0;
}

/* The lines are in order and do not overlap. */
static int check_lines(FILE *maps, uint64_t addr, uint64_t end, bool write)
{
	char line[512];
	struct map_line map;

	while (addr < end && fgets(line, sizeof(line), maps) != NULL) {
		if (!parse(line, &map) || map.to <= addr)
			continue;
		if (map.from > addr || !is_usable(&map, map.to < end ? map.to : end, write))
			return -EFAULT;
		addr = map.to;
	}
	return addr < end ? -EFAULT : 0;
}

int mapping_check(uint64_t addr, size_t length, bool write)
{
	uint64_t start;
	uint64_t end;
	int error = whole_pages(addr, length, &start, &end);
	FILE *maps = fopen("/proc/self/maps", "re");

	if (maps == NULL)
		return mapping_populate(addr, length, write);
	if (error == 0)
		error = check_lines(maps, start, end, write);
	fclose(maps);
	return error;
}

/* The lines are in order and do not overlap. */
static bool all_shared(FILE *maps, uint64_t addr, uint64_t end, bool files)
{
	char line[512];
	struct map_line map;

	while (fgets(line, sizeof(line), maps) != NULL) {
		if (!parse(line, &map) || map.to <= addr)
			continue;
		if (map.from > addr || !map.is_shared || (files && is_nameless(map.path)))
			return false;
		if (map.to >= end)
			return true;
		addr = map.to;
	}
	return false;
}

static bool is_shared(uint64_t addr, size_t length, bool files)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool is;

	if (maps == NULL)
		return false;
	is = all_shared(maps, addr, addr + length, files);
	fclose(maps);
	return is;
}

bool mapping_is_shared(uint64_t addr, size_t length)
{
	return is_shared(addr, length, false);
}

bool mapping_is_file(uint64_t addr, size_t length)
{
	return is_shared(addr, length, true);
}
