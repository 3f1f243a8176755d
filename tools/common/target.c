/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * target.c -- maps the memory that rpma-bench server exposes.
 *
 * Nothing is overwritten that was not made here, unless forced; every page is
 * touched before the first client comes, so that no measured operation pays
 * for a page fault.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
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

#include "failure.h"
#include "units.h"

#define STEP "target"

const char *target_kind_name(enum target_kind kind)
{
	static const char *const names[] = {"dram", "hugepages", "file", "fsdax", "devdax"};

	return names[kind];
}

/* The size after the last colon; 0 without a colon. */
static int parse_size(const char *spec, size_t *bytes)
{
	const char *colon = strrchr(spec, ':');
	uint64_t value = 0;

	if (colon != NULL && (units_parse_size(colon + 1, &value) || value == 0 ||
			      value > SSIZE_MAX || colon == spec))
		return failure_set(
			EXIT_WRONG_USAGE, "options",
			"--target %s: expected dram:SIZE, PATH:SIZE or PATH, with a size "
			"such as 64M",
			spec);
	*bytes = value;
	return 0;
}

int target_check(const char *spec)
{
	size_t bytes;

	if (spec[0] == '\0' || strcmp(spec, "dram") == 0)
		return failure_set(EXIT_WRONG_USAGE, "options",
				   "--target %s: expected dram:SIZE, PATH:SIZE or PATH", spec);
	return parse_size(spec, &bytes);
}

static int map_failed(const char *what, size_t bytes)
{
	char text[UNITS_TEXT_BYTES];

	return failure_set(EXIT_RUN_FAILED, STEP, "cannot map %s of %s: %s",
			   units_print_size(bytes, text), what, strerror(errno));
}

static int open_dram(struct target *t)
{
	void *memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return map_failed("memory", t->size_bytes);
	t->kind = TARGET_DRAM;
	t->memory = memory;
	return 0;
}

/* MAP_SYNC works on DAX file systems alone, so success is what tells fsdax. */
static int map_file(struct target *t, int fd)
{
	void *memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);

	if (memory != MAP_FAILED) {
		t->kind = TARGET_FSDAX;
	} else {
		memory = mmap(NULL, t->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		t->kind = TARGET_FILE;
	}
	if (memory == MAP_FAILED)
		return map_failed(t->path, t->size_bytes);
	t->memory = memory;
	return 0;
}

static int make_file(struct target *t)
{
	int fd = open(t->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error, ret;

	if (fd < 0)
		return failure_set(EXIT_RUN_FAILED, STEP, "cannot make the target %s: %s", t->path,
				   errno == EEXIST ? "it exists already (--force with --target "
						     "PATH overwrites an existing file)"
						   : strerror(errno));
	t->made = true;
	/* a hole would fault, and on a full disk kill, in mid-run */
	error = posix_fallocate(fd, 0, (off_t)t->size_bytes);
	if (error != 0)
		ret = failure_set(EXIT_RUN_FAILED, STEP, "cannot allocate %zu bytes for %s: %s",
				  t->size_bytes, t->path, strerror(error));
	else
		ret = map_file(t, fd);
	close(fd);
	return ret;
}

static int devdax_size(struct target *t, const struct stat *st)
{
	char sysfs[96], line[32] = "";
	unsigned long long bytes;
	FILE *file;

	snprintf(sysfs, sizeof(sysfs), "/sys/dev/char/%u:%u/size", major(st->st_rdev),
		 minor(st->st_rdev));
	file = fopen(sysfs, "re");
	if (file != NULL && fgets(line, sizeof(line), file) == NULL)
		line[0] = '\0';
	if (file != NULL)
		fclose(file);
	bytes = strtoull(line, NULL, 10);
	if (bytes == 0)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s is not a device DAX node (no size in %s)", t->path, sysfs);
	t->size_bytes = (size_t)bytes;
	return 0;
}

static int map_existing(struct target *t, int fd, const struct stat *st)
{
	int ret;

	if (S_ISCHR(st->st_mode)) {
		ret = devdax_size(t, st);
		if (ret == 0)
			ret = map_file(t, fd);
		t->kind = TARGET_DEVDAX;
		return ret;
	}
	if (!S_ISREG(st->st_mode) || st->st_size == 0)
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s is neither a file with content nor a device DAX node",
				   t->path);
	t->size_bytes = (size_t)st->st_size;
	return map_file(t, fd);
}

static int open_existing(struct target *t, bool force)
{
	struct stat st;
	int fd = open(t->path, O_RDWR | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return failure_set(EXIT_RUN_FAILED, STEP, "cannot open the target %s: %s%s",
				   t->path, strerror(errno),
				   errno == ENOENT ? " (PATH:SIZE makes a new file)" : "");
	if (fstat(fd, &st) != 0)
		ret = failure_set(EXIT_RUN_FAILED, STEP, "cannot examine %s: %s", t->path,
				  strerror(errno));
	else if (!force)
		ret = failure_set(EXIT_RUN_FAILED, STEP,
				  "%s exists and its content would be overwritten: --force allows "
				  "that",
				  t->path);
	else
		ret = map_existing(t, fd, &st);
	close(fd);
	return ret;
}

static void find_node(struct target *t)
{
	int node = -1;

	if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, t->memory, MPOL_F_NODE | MPOL_F_ADDR) == 0)
		t->numa_node = node;
}

/* Writing back what is read dirties private pages and keeps a file's content. */
static void touch(struct target *t)
{
	volatile char *memory = t->memory;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < t->size_bytes; at += page)
		memory[at] = memory[at]; /* NOLINT: mmap never gives NULL */
}

int target_open(struct target *target, const char *spec, bool force)
{
	struct target t = {.kind = TARGET_DRAM, .numa_node = -1};
	const char *colon = strrchr(spec, ':');
	int ret = parse_size(spec, &t.size_bytes);

	if (ret)
		return ret;
	if (strncmp(spec, "dram:", 5) == 0) {
		ret = open_dram(&t);
	} else {
		t.path = colon != NULL ? strndup(spec, (size_t)(colon - spec)) : strdup(spec);
		if (t.path == NULL)
			return failure_set(EXIT_INTERNAL, STEP, "out of memory");
		ret = colon != NULL ? make_file(&t) : open_existing(&t, force);
	}
	if (ret) {
		target_close(&t);
		return ret;
	}
	touch(&t);
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
	free(target->path);
	memset(target, 0, sizeof(*target));
}
