/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * devdax.c -- size and alignment of device DAX, and the deep_flush of its region:
 * Documentation/ABI/testing/sysfs-bus-dax and sysfs-bus-nvdimm of the kernel.
 */
#include "devdax.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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
