/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot.c -- opens files below a root, resolving links by itself.
 *
 * The kernel would follow an absolute link or ".." out of a replaced root
 * (and openat2, which would not, is missing from older kernels, containers
 * and valgrind). Roots are trees that stand still, so a path is resolved
 * first and opened then.
 */
#include "sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* more than any sane path has; a loop of links ends here */
#define STEPS_MAX 400

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

/* Takes the first component off rest, without the slashes around it. */
static void take_component(char *rest, char component[NAME_MAX + 1])
{
	size_t skip = strspn(rest, "/");
	size_t len = strcspn(rest + skip, "/");

	snprintf(component, NAME_MAX + 1, "%.*s", (int)len, rest + skip);
	memmove(rest, rest + skip + len, strlen(rest + skip + len) + 1);
}

/* ".." at the root is the root. */
static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash != NULL)
		*slash = '\0';
	else
		path[0] = '\0';
}

/* Appends a component, which may turn out to be a link: then it goes before the rest. */
static bool enter(const struct sysroot *root, char path[PATH_MAX], const char *component,
		  char rest[PATH_MAX], bool follow)
{
	char next[PATH_MAX], target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t len;

	if (snprintf(next, sizeof(next), "%s%s%s", path, path[0] != '\0' ? "/" : "", component) >=
	    PATH_MAX)
		return false;
	len = follow ? readlinkat(root->fd, next, target, sizeof(target) - 1) : -1;
	if (len < 0) {
		memcpy(path, next, sizeof(next));
		return true;
	}
	target[len] = '\0';
	if (target[0] == '/')
		path[0] = '\0';
	snprintf(joined, sizeof(joined), "%s/%s", target, rest);
	if (strlen(joined) >= PATH_MAX)
		return false;
	memcpy(rest, joined, strlen(joined) + 1);
	return true;
}

/* The path without links; the last component may be left a link. */
static bool resolve(const struct sysroot *root, const char *given, bool follow_last,
		    char path[PATH_MAX])
{
	char rest[PATH_MAX], component[NAME_MAX + 1];

	if (snprintf(rest, sizeof(rest), "%s", given) >= PATH_MAX)
		return false;
	path[0] = '\0';
	for (int steps = 0; steps < STEPS_MAX; steps++) {
		take_component(rest, component);
		if (component[0] == '\0') {
			if (path[0] == '\0')
				memcpy(path, ".", 2);
			return true;
		}
		if (strcmp(component, ".") == 0)
			continue;
		if (strcmp(component, "..") == 0)
			drop_last(path);
		else if (!enter(root, path, component, rest,
				follow_last || rest[strspn(rest, "/")] != '\0'))
			return false;
	}
	return false;
}

/* The machine's own root needs no care. */
static int open_below(const struct sysroot *root, const char *path, int flags)
{
	char resolved[PATH_MAX];

	if (!root->machine) {
		if (!resolve(root, path, (flags & O_NOFOLLOW) == 0, resolved))
			return -1;
		path = resolved;
	}
	return openat(root->fd, path, flags | O_CLOEXEC);
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
