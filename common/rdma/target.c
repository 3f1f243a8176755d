/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c -- maps the memory that a server exposes.
 *
 * Nothing is overwritten that was not made here, unless forced; every page is
 * touched before the first client comes, so that no measured operation pays
 * for a page fault.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/base/units.h"
#include "common/host/file_medium.h"
#include "common/host/file_sync.h"
#include "common/host/huge_pages.h"

#define STEP	    "target"
#define failed(...) failure_set(EXIT_RUN_FAILED, STEP, __VA_ARGS__)
#define wrong(...)  failure_set(EXIT_WRONG_USAGE, STEP, __VA_ARGS__)

const char *target_kind_name(enum target_kind kind)
{
	static const char *const names[] = {"dram",   "hugepages", "file",     "fsdax",
					    "devdax", "memfile",   "otherfile"};

	return names[kind];
}

static int malformed(const char *spec)
{
	return failure_usage("--target %s: expected dram:SIZE, hugepages:SIZE, PATH:SIZE or PATH, "
			     "with a size such as 64M",
			     spec);
}

/* The size after the last colon; 0 without a colon. */
static int parse_size(const char *spec, size_t *bytes)
{
	const char *colon = strrchr(spec, ':');
	uint64_t value = 0;

	if (colon != NULL && (units_parse_size(colon + 1, &value) || value == 0 ||
			      value > SSIZE_MAX || colon == spec))
		return malformed(spec);
	*bytes = value;
	return 0;
}

int target_check(const char *spec)
{
	size_t bytes;

	if (spec[0] == '\0' || strcmp(spec, "dram") == 0 || strcmp(spec, "hugepages") == 0)
		return malformed(spec);
	return parse_size(spec, &bytes);
}

static bool stopped(const struct target_cfg *cfg)
{
	return cfg->stopped != NULL && cfg->stopped(cfg->arg);
}

static int map_failed(const char *what, size_t bytes)
{
	char text[UNITS_TEXT_BYTES];

	return failed("cannot map %s of %s: %s", units_print_size(bytes, text), what,
		      strerror(errno));
}

static int open_dram(struct target *t)
{
	void *memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return map_failed("memory", t->size_bytes);
	t->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	t->kind = TARGET_DRAM;
	t->memory = memory;
	return 0;
}

static int open_hugepages(struct target *t)
{
	char page[UNITS_TEXT_BYTES];
	void *memory;
	int ret;

	t->page_bytes = huge_page_bytes();
	if (t->page_bytes == 0)
		return failed(
			"cannot map huge pages: this kernel has none (dram:SIZE does without)");
	if (t->size_bytes % t->page_bytes != 0)
		return wrong("hugepages:%zu: expected a multiple of a huge page, %s", t->size_bytes,
			     units_print_size(t->page_bytes, page));
	ret = huge_pages_map(t->size_bytes, STEP, &memory);
	if (ret)
		return ret;
	t->kind = TARGET_HUGEPAGES;
	t->memory = memory;
	return 0;
}

enum target_kind target_kind_of_file(int fd)
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

/* MAP_SYNC works on DAX file systems alone, so success is what tells fsdax. */
static int map_file(struct target *t, int fd, off_t offset)
{
	void *memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED_VALIDATE | MAP_SYNC, fd, offset);

	if (memory != MAP_FAILED) {
		t->kind = TARGET_FSDAX;
	} else {
		memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
		t->kind = target_kind_of_file(fd);
		t->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	}
	if (memory == MAP_FAILED)
		return map_failed(t->path, t->size_bytes);
	t->memory = memory;
	return 0;
}

/* A hole would fault, and on a full disk kill, in mid-run. */
static int allocate(const struct target *t, int fd, off_t offset, const struct target_cfg *cfg)
{
	int error;

	do {
		error = posix_fallocate(fd, offset, (off_t)t->size_bytes);
		if (error == EINTR && stopped(cfg))
			return -ECANCELED;
	} while (error == EINTR);
	if (error != 0)
		return failed("cannot allocate %zu bytes for %s: %s", t->size_bytes, t->path,
			      strerror(error));
	return 0;
}

/* Directly in it is no place for a file: where the device is missing it would pass for PMem. */
static bool in_dev(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 && strchr(path + 5, '/') == NULL;
}

static int make_file(struct target *t, const struct target_cfg *cfg)
{
	int fd, ret;

	if (in_dev(t->path) && access(t->path, F_OK) != 0)
		return failed("cannot make the target %s: there is no such device, and a file in "
			      "/dev would be memory",
			      t->path);
	fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return failed("cannot make the target %s: %s", t->path,
			      errno == EEXIST ? "it exists already (--force with --target PATH "
						"overwrites an existing file)"
					      : strerror(errno));
	t->made = true;
	ret = allocate(t, fd, 0, cfg);
	if (ret == 0)
		ret = map_file(t, fd, 0);
	close(fd);
	return ret;
}

/* The size of a character device in sysfs; 0: unknown. */
static size_t device_number(const struct stat *st, const char *name)
{
	int64_t value;

	if (!sysroot_number(&sysroot_machine, &value, "sys/dev/char/%u:%u/%s", major(st->st_rdev),
			    minor(st->st_rdev), name))
		return 0;
	return value > 0 ? (size_t)value : 0;
}

/* The bytes to map for these: they begin at a page, and on device DAX end at one. */
static int set_window(struct target *t, const struct target_cfg *cfg, uint64_t all, size_t page)
{
	const uint64_t rest = cfg->offset < all ? all - cfg->offset : 0;

	if (rest == 0 || cfg->bytes > rest)
		return failed("%s has %" PRIu64 " bytes, %" PRIu64 " of them from offset %" PRIu64
			      " on: expected %" PRIu64 " or more there",
			      t->path, all, rest, cfg->offset, cfg->bytes > 0 ? cfg->bytes : 1);
	t->size_bytes = cfg->bytes != 0 ? cfg->bytes : rest;
	if (cfg->offset % page != 0)
		return wrong("%s: expected an offset that is a multiple of %zu, not %" PRIu64,
			     t->path, page, cfg->offset);
	if (t->kind == TARGET_DEVDAX && t->size_bytes % page != 0)
		return wrong("%s: expected a size that is a multiple of %zu, not %zu", t->path,
			     page, t->size_bytes);
	return 0;
}

static int map_devdax(struct target *t, int fd, const struct stat *st, const struct target_cfg *cfg)
{
	const size_t all = device_number(st, "size"), align = device_number(st, "align");
	int ret;

	if (all == 0)
		return failed("%s is not a device DAX node (no size in sysfs)", t->path);
	t->kind = TARGET_DEVDAX;
	ret = set_window(t, cfg, all, align > 0 ? align : 1);
	if (ret == 0)
		ret = map_file(t, fd, (off_t)cfg->offset);
	t->kind = TARGET_DEVDAX;
	t->page_bytes = align;
	return ret;
}

static int map_existing(struct target *t, int fd, const struct stat *st,
			const struct target_cfg *cfg)
{
	int ret;

	if (S_ISCHR(st->st_mode))
		return map_devdax(t, fd, st, cfg);
	if (!S_ISREG(st->st_mode) || st->st_size == 0)
		return failed("%s is neither a file with content nor a device DAX node", t->path);
	ret = set_window(t, cfg, (uint64_t)st->st_size, (size_t)sysconf(_SC_PAGESIZE));
	if (ret == 0)
		ret = allocate(t, fd, (off_t)cfg->offset, cfg);
	return ret ? ret : map_file(t, fd, (off_t)cfg->offset);
}

/* Not even opened without force: some devices do things when they are. */
static int check_existing(const struct target *t, bool force)
{
	struct stat st;

	if (stat(t->path, &st) != 0)
		return failed("cannot open the target %s: %s%s", t->path, strerror(errno),
			      errno == ENOENT ? " (PATH:SIZE makes a new file, dram:SIZE is memory)"
					      : "");
	if (!force)
		return failed("%s exists and its content would be overwritten: --force allows that",
			      t->path);
	return 0;
}

static int open_existing(struct target *t, const struct target_cfg *cfg)
{
	struct stat st;
	int ret = check_existing(t, cfg->force), fd;

	if (ret)
		return ret;
	fd = open(t->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return failed("cannot open the target %s: %s", t->path, strerror(errno));
	if (fstat(fd, &st) != 0)
		ret = failed("cannot examine %s: %s", t->path, strerror(errno));
	else
		ret = map_existing(t, fd, &st, cfg);
	close(fd);
	return ret;
}

/* In a container it may be forbidden: then the memory is where the kernel puts it. */
static void bind_memory(struct target *t, int node)
{
	unsigned long nodes[16] = {0};
	const unsigned bits = 8 * sizeof(nodes[0]);

	if (node < 0 || (unsigned)node >= bits * 16)
		return;
	nodes[(unsigned)node / bits] = 1UL << (unsigned)node % bits;
	/* strictly bound, a huge page that its node has not left would kill */
	if (syscall(SYS_mbind, t->memory, t->size_bytes,
		    t->kind == TARGET_HUGEPAGES ? MPOL_PREFERRED : MPOL_BIND, nodes,
		    8 * sizeof(nodes), 0U) != 0)
		t->bind_error = errno;
}

static void find_node(struct target *t)
{
	int node = -1;

	if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, t->memory, MPOL_F_NODE | MPOL_F_ADDR) == 0)
		t->numa_node = node;
}

/* Writing back what is read dirties private pages and keeps a file's content. */
static int touch(struct target *t, const struct target_cfg *cfg)
{
	volatile char *memory = t->memory;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < t->size_bytes; at += page) {
		if (stopped(cfg))
			return -ECANCELED;
		memory[at] = memory[at]; /* NOLINT: mmap never gives NULL */
	}
	return 0;
}

static int map_spec(struct target *t, const char *spec, const struct target_cfg *cfg)
{
	const char *colon = strrchr(spec, ':');

	if (colon != NULL && cfg->offset != 0)
		return wrong("%s: expected an offset of an existing file or device DAX alone",
			     spec);
	if (strncmp(spec, "dram:", 5) == 0)
		return open_dram(t);
	if (strncmp(spec, "hugepages:", 10) == 0)
		return open_hugepages(t);
	t->path = colon != NULL ? strndup(spec, (size_t)(colon - spec)) : strdup(spec);
	if (t->path == NULL)
		return failure_set(EXIT_INTERNAL, STEP, "out of memory");
	return colon != NULL ? make_file(t, cfg) : open_existing(t, cfg);
}

int target_open(struct target *target, const char *spec, const struct target_cfg *cfg)
{
	struct target t = {.kind = TARGET_DRAM, .numa_node = -1};
	int ret = parse_size(spec, &t.size_bytes);

	if (ret)
		return ret;
	ret = map_spec(&t, spec, cfg);
	if (ret == 0 && t.path == NULL)
		bind_memory(&t, cfg->node);
	else if (ret == 0 && file_sync_new(&t.sync) != 0)
		ret = failure_set(EXIT_INTERNAL, STEP, "out of memory");
	if (ret == 0)
		ret = touch(&t, cfg);
	if (ret) {
		target_close(&t);
		return ret;
	}
	find_node(&t);
	*target = t;
	return 0;
}

void target_close(struct target *target)
{
	if (target->memory != NULL)
		munmap(target->memory, target->size_bytes);
	if (target->made)
		unlink(target->path);
	file_sync_delete(&target->sync);
	free(target->path);
	memset(target, 0, sizeof(*target));
}
