/* SPDX-License-Identifier: BSD-3-Clause */
/* mapping.c -- maps parts with MAP_SYNC where the file system has it. */
#include "mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/failure.h"
#include "common/host/file_sync.h"
#include "reason.h"

/* The device's directory in sysfs. */
static int find_directory(const char *sysfs, dev_t device, char directory[PATH_MAX])
{
	char link[PATH_MAX];
	const int len = snprintf(link, sizeof(link), "%s/dev/char/%u:%u", sysfs, major(device),
				 minor(device));

	if (len < 0 || (size_t)len >= sizeof(link))
		return -ENAMETOOLONG;
	return realpath(link, directory) != NULL ? 0 : -errno;
}

static int open_attribute(const char *directory, const char *name, int flags)
{
	char path[PATH_MAX];
	const int len = snprintf(path, sizeof(path), "%s/%s", directory, name);
	int fd;

	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, flags | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}

/* 0: there is no such attribute. */
static uint64_t read_number(const char *directory, const char *name)
{
	char text[32];
	int fd = open_attribute(directory, name, O_RDONLY);
	ssize_t len;

	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	return strtoull(text, NULL, 10);
}

static int is_dax(const char *directory)
{
	char link[PATH_MAX], subsystem[PATH_MAX];
	const int printed = snprintf(link, sizeof(link), "%s/subsystem", directory);
	ssize_t len;
	const char *name;

	if (printed < 0 || (size_t)printed >= sizeof(link))
		return 0;
	len = readlink(link, subsystem, sizeof(subsystem) - 1);
	if (len <= 0)
		return 0;
	subsystem[len] = '\0';
	name = strrchr(subsystem, '/');
	return name != NULL && strcmp(name, "/dax") == 0;
}

/* Cuts the path to the directory above; false at the root of sysfs. */
static bool go_up(char *directory, size_t root_len)
{
	if (strlen(directory) <= root_len)
		return false;
	*strrchr(directory, '/') = '\0';
	return true;
}

static bool is_pmem_region(const char *directory)
{
	static const char pmem[] = "nd_pmem\n";
	char type[sizeof(pmem)];
	int fd = open_attribute(directory, "devtype", O_RDONLY);
	bool yes;

	if (fd < 0)
		return false;
	yes = read(fd, type, sizeof(type)) == sizeof(pmem) - 1 &&
	      memcmp(type, pmem, sizeof(pmem) - 1) == 0;
	close(fd);
	return yes;
}

/* Memory of CXL or of the firmware may be device DAX as well, and has no such region above it. */
static bool is_persistent(char *directory, size_t root_len)
{
	while (!is_pmem_region(directory))
		if (!go_up(directory, root_len))
			return false;
	return true;
}

int devdax_read(const char *sysfs, dev_t device, struct devdax *devdax)
{
	char directory[PATH_MAX];
	uint64_t alignment;

	if (find_directory(sysfs, device, directory) != 0 || !is_dax(directory))
		return -ENODEV;
	alignment = read_number(directory, "align");
	if (alignment == 0) /* kernels before 4.20 show it only at the region: its default */
		alignment = 2U << 20;
	*devdax = (struct devdax){.bytes = read_number(directory, "size"),
				  .alignment = (size_t)alignment};
	devdax->is_persistent = is_persistent(directory, strlen(sysfs));
	return devdax->bytes > 0 && (alignment & (alignment - 1)) == 0 ? 0 : -ENODEV;
}

/* Cuts the path to the nearest directory that has the attribute. */
static int find_deep_flush(char *directory, size_t root_len)
{
	do {
		int fd = open_attribute(directory, "deep_flush", O_RDONLY);

		if (fd >= 0) {
			close(fd);
			return 0;
		}
	} while (go_up(directory, root_len));
	return -ENOENT;
}

int devdax_deep_flush(const char *sysfs, dev_t device)
{
	char directory[PATH_MAX];
	int ret = find_directory(sysfs, device, directory), fd;

	if (ret)
		return ret;
	/* 0: the platform needs none */
	if (find_deep_flush(directory, strlen(sysfs)) != 0 ||
	    read_number(directory, "deep_flush") == 0)
		return 0;
	fd = open_attribute(directory, "deep_flush", O_WRONLY);
	if (fd < 0)
		return fd;
	ret = write(fd, "1", 1) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

/* The variable of libpmem(7), for tests: 1 and 0 overrule what the file is. */
#define FORCE "PMEM_IS_PMEM_FORCE"

static bool is_forced(const char *value)
{
	const char *force = getenv(FORCE);

	return force != NULL && strcmp(force, value) == 0;
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
		t->kind = target_kind_of_file(file->fd);
		t->memory = map_at(at, bytes, MAP_SHARED, file->fd, file_offset);
	}
	if (file->device != 0)
		t->kind = file->is_volatile ? TARGET_MEMFILE : TARGET_DEVDAX;
	if (t->memory != MAP_FAILED)
		return 0;
	t->memory = NULL;
	return -errno;
}

/* Chooses the method that makes it durable: device DAX has one only. */
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
