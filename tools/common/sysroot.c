/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot.c -- opens files below a root with openat2(RESOLVE_IN_ROOT).
 *
 * The kernel keeps absolute links and ".." inside the root. A kernel or a
 * container without openat2 can still read the real machine; a replaced root
 * it cannot, rather than resolve links outside of it.
 */
#include "sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int sysroot_open(struct sysroot *root, const char *path)
{
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	root->machine = strcmp(path, "/") == 0;
	return root->fd < 0 ? -errno : 0;
}

void sysroot_close(struct sysroot *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

static int open_below(const struct sysroot *root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
	long fd = syscall(SYS_openat2, root->fd, path, &how, sizeof(how));

	if (fd < 0 && root->machine && (errno == ENOSYS || errno == EPERM))
		fd = openat(root->fd, path, flags | O_CLOEXEC);
	return (int)fd;
}

static long read_text(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -1;
	while (len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(fd);
	return got < 0 ? -1 : (long)len;
}

long sysroot_read(const struct sysroot *root, char *text, size_t size, const char *path)
{
	return read_text(open_below(root, path, O_RDONLY), text, size);
}

static bool vline(const struct sysroot *root, char *line, size_t size, const char *format,
		  va_list args)
{
	char path[PATH_MAX];

	vsnprintf(path, sizeof(path), format, args);
	if (sysroot_read(root, line, size, path) < 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return line[0] != '\0';
}

bool sysroot_line(const struct sysroot *root, char *line, size_t size, const char *format, ...)
{
	va_list args;
	bool found;

	va_start(args, format);
	found = vline(root, line, size, format, args);
	va_end(args);
	return found;
}

bool sysroot_number(const struct sysroot *root, int64_t *value, const char *format, ...)
{
	char line[64], *end;
	va_list args;
	bool found;

	va_start(args, format);
	found = vline(root, line, sizeof(line), format, args);
	va_end(args);
	if (!found)
		return false;
	errno = 0;
	*value = strtoll(line, &end, 0);
	return errno == 0 && end != line;
}

bool sysroot_link_name(const struct sysroot *root, char *name, size_t size, const char *format, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	va_list args;
	ssize_t len;
	const char *base;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open_below(root, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return false;
	len = readlinkat(fd, "", target, sizeof(target) - 1);
	close(fd);
	if (len <= 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%s", base != NULL ? base + 1 : target);
	return true;
}

bool sysroot_exists(const struct sysroot *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	fd = open_below(root, path, O_PATH);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

DIR *sysroot_directory(const struct sysroot *root, const char *path)
{
	int fd = open_below(root, path, O_RDONLY | O_DIRECTORY);

	return fd < 0 ? NULL : fdopendir(fd);
}
