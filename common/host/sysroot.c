/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot.c -- opens files below a root, resolving links by itself.
 *
 * The kernel would follow an absolute link or ".." out of a replaced root (and
 * openat2, which would not, is missing from older kernels, containers and
 * valgrind). Roots are trees that stand still, so a path is resolved first,
 * looked at then, and opened last: opening a device or a FIFO that was put
 * there would do harm by itself.
 */
#include "sysroot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sysroot_record.h"

/* more than any sane path has; a loop of links ends here */
#define STEPS_MAX 400
/* what a process may know of itself (proc/self/status) has some 1,500 bytes */
#define FIELDS_BYTES_MAX (1 << 14)

const struct sysroot sysroot_machine = {.fd = AT_FDCWD, .machine = true};

int sysroot_open(struct sysroot *root, const char *path)
{
	*root = (struct sysroot){.machine = strcmp(path, "/") == 0};
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root->fd < 0 ? -errno : 0;
}

void sysroot_close(struct sysroot *root)
{
	sysroot_record_free(root->record);
	root->record = NULL;
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

static const char *refusal(int error)
{
	switch (error) {
	case EXDEV:
		return "a link leads out of the root";
	case ELOOP:
		return "links lead in a circle";
	case EACCES:
	case EPERM:
		return "may not be read";
	case ENOTSUP:
		return "is no regular file";
	case ENAMETOOLONG:
		return "the path is too long";
	default:
		return strerror(error);
	}
}

/* Below a replaced root; that something is not there is no refusal. */
static void refuse(const struct sysroot *root, const char *path, int error)
{
	if (root->machine || root->refused == NULL || error == ENOENT || error == ENOTDIR ||
	    error == EISDIR)
		return;
	if (root->refused->count++ == 0)
		snprintf(root->refused->first, sizeof(root->refused->first), "%.255s: %s", path,
			 refusal(error));
}

/* Takes the first component off rest, without the slashes around it. */
static bool take_component(char *rest, char component[NAME_MAX + 1])
{
	size_t skip = strspn(rest, "/");
	size_t len = strcspn(rest + skip, "/");

	if (len > NAME_MAX)
		return false;
	snprintf(component, NAME_MAX + 1, "%.*s", (int)len, rest + skip);
	memmove(rest, rest + skip + len, strlen(rest + skip + len) + 1);
	return true;
}

/* To the directory above; only the machine's own root is above itself. */
static int leave(const struct sysroot *root, char *path)
{
	char *slash = strrchr(path, '/');
	struct stat st;

	if (path[0] == '\0')
		return root->machine ? 0 : -EXDEV;
	if (fstatat(root->fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	*(slash != NULL ? slash : path) = '\0';
	return 0;
}

/* Appends a component, which may turn out to be a link: then it goes before the rest. */
static int enter(const struct sysroot *root, char path[PATH_MAX], const char *component,
		 char rest[PATH_MAX], bool follow)
{
	char next[PATH_MAX], target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t len;

	if (snprintf(next, sizeof(next), "%s%s%s", path, path[0] != '\0' ? "/" : "", component) >=
	    PATH_MAX)
		return -ENAMETOOLONG;
	len = readlinkat(root->fd, next, target, sizeof(target) - 1);
	if (len < 0 && errno != EINVAL)
		return -errno;
	if (len >= 0) {
		target[len] = '\0';
		sysroot_record_link(root->record, next, target);
	}
	if (len < 0 || !follow) {
		memcpy(path, next, sizeof(next));
		return 0;
	}
	if (target[0] == '/')
		path[0] = '\0';
	snprintf(joined, sizeof(joined), "%s/%s", target, rest);
	if (strlen(joined) >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(rest, joined, strlen(joined) + 1);
	return 0;
}

/* The path without links; the last component may be left a link. */
static int resolve(const struct sysroot *root, const char *given, bool follow_last,
		   char path[PATH_MAX])
{
	char rest[PATH_MAX], component[NAME_MAX + 1];

	if (snprintf(rest, sizeof(rest), "%s", given) >= PATH_MAX)
		return -ENAMETOOLONG;
	path[0] = '\0';
	for (int steps = 0; steps < STEPS_MAX; steps++) {
		int ret = 0;

		if (!take_component(rest, component))
			return -ENAMETOOLONG;
		if (component[0] == '\0') {
			if (path[0] == '\0')
				memcpy(path, ".", 2);
			return 0;
		}
		if (strcmp(component, "..") == 0)
			ret = leave(root, path);
		else if (strcmp(component, ".") != 0)
			ret = enter(root, path, component, rest,
				    follow_last || rest[strspn(rest, "/")] != '\0');
		if (ret != 0)
			return ret;
	}
	return -ELOOP;
}

/* For a file in a replaced root: 0 if it may be opened. */
static int examine(const struct sysroot *root, const char *path)
{
	struct stat st;

	if (root->machine)
		return 0;
	if (fstatat(root->fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) ? 0 : -ENOTSUP;
}

/* The machine's own root needs no care, except to see the links. */
static bool resolve_here(const struct sysroot *root, const char *path, bool follow,
			 char resolved[PATH_MAX])
{
	int ret;

	if (root->machine && root->record == NULL)
		ret = snprintf(resolved, PATH_MAX, "/%s", path) < PATH_MAX ? 0 : -ENAMETOOLONG;
	else
		ret = resolve(root, path, follow, resolved);
	if (ret != 0)
		refuse(root, path, -ret);
	return ret == 0;
}

/* A file to read from; resolved is its path without links, where they are looked at. */
static int open_file(const struct sysroot *root, const char *path, char resolved[PATH_MAX])
{
	int ret, fd = -1;

	if (!resolve_here(root, path, true, resolved))
		return -1;
	ret = examine(root, resolved);
	if (ret == 0) {
		fd = openat(root->fd, resolved, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		ret = fd < 0 ? -errno : 0;
	}
	if (ret != 0)
		refuse(root, path, -ret);
	if (ret != 0 && ret != -ENOENT && ret != -ENOTDIR)
		sysroot_record_path(root->record, resolved);
	return fd;
}

long sysroot_pread(const struct sysroot *root, const char *path, int64_t offset, void *buffer,
		   size_t size)
{
	char resolved[PATH_MAX];
	int fd = open_file(root, path, resolved);
	size_t len = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -1;
	while (len < size &&
	       (got = pread(fd, (char *)buffer + len, size - len, offset + (int64_t)len)) > 0)
		len += (size_t)got;
	close(fd);
	if (got < 0)
		sysroot_record_path(root->record, resolved);
	else
		sysroot_record_bytes(root->record, resolved, offset, buffer, len);
	return got < 0 ? -1 : (long)len;
}

/* For terminals and JSON alike; what sysfs itself writes is ASCII. */
static void make_printable(char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\t')
			*text = ' ';
		else if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

/* The path that the format of a function and its arguments give; fits: it is short enough. */
#define MAKE_PATH(path, format, fits)                                                              \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		(fits) = vsnprintf(path, PATH_MAX, format, args) < PATH_MAX;                       \
		va_end(args);                                                                      \
	} while (0)

static long read_text(const struct sysroot *root, const char *path, char *text, size_t size)
{
	long len = sysroot_pread(root, path, 0, text, size - 1);

	text[len > 0 ? len : 0] = '\0';
	return len;
}

long sysroot_read(const struct sysroot *root, char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	bool fits;

	text[0] = '\0';
	MAKE_PATH(path, format, fits);
	return fits ? read_text(root, path, text, size) : -1;
}

static bool read_line(const struct sysroot *root, const char *path, char *line, size_t size)
{
	if (read_text(root, path, line, size) < 0)
		return false;
	line[strcspn(line, "\n")] = '\0';
	make_printable(line);
	return line[0] != '\0';
}

bool sysroot_line(const struct sysroot *root, char *line, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	bool fits;

	line[0] = '\0';
	MAKE_PATH(path, format, fits);
	return fits && read_line(root, path, line, size);
}

bool sysroot_number(const struct sysroot *root, int64_t *value, const char *format, ...)
{
	char path[PATH_MAX], line[64], *end;
	bool fits;

	MAKE_PATH(path, format, fits);
	if (!fits || !read_line(root, path, line, sizeof(line)))
		return false;
	errno = 0;
	*value = strtoll(line, &end, 0);
	return errno == 0 && end != line && end[strspn(end, " ")] == '\0';
}

bool sysroot_field(const char *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = text; line != NULL;
	     line = strchr(line, '\n'), line += line != NULL) {
		const char *after = strncmp(line, key, len) == 0 ? line + len : "";

		after += strspn(after, " \t");
		if (*after != ':')
			continue;
		after += 1 + strspn(after + 1, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(after, "\n"), after);
		return value[0] != '\0';
	}
	return false;
}

bool sysroot_file_field(const struct sysroot *root, const char *path, const char *key, char *value,
			size_t size)
{
	char text[FIELDS_BYTES_MAX];

	return sysroot_read(root, text, sizeof(text), "%s", path) > 0 &&
	       sysroot_field(text, key, value, size);
}

bool sysroot_link_name(const struct sysroot *root, char *name, size_t size, const char *format, ...)
{
	char path[PATH_MAX], resolved[PATH_MAX], target[PATH_MAX];
	const char *base;
	ssize_t len;
	bool fits;

	MAKE_PATH(path, format, fits);
	if (!fits || !resolve_here(root, path, false, resolved))
		return false;
	len = readlinkat(root->fd, resolved, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	snprintf(name, size, "%s", base != NULL ? base + 1 : target);
	make_printable(name);
	return true;
}

int sysroot_access(const struct sysroot *root, const char *path)
{
	char resolved[PATH_MAX];

	if (!resolve_here(root, path, true, resolved))
		return ENOENT;
	return faccessat(root->fd, resolved, R_OK | W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Does what resolve() does; the kernel does it for the machine's own root. */
static int find_real(const struct sysroot *root, const char *path, char real[PATH_MAX])
{
	char absolute[PATH_MAX + 1];

	if (!root->machine || root->record != NULL)
		return resolve(root, path, true, real);
	snprintf(absolute, sizeof(absolute), "/%s", path);
	if (realpath(absolute, real) == NULL)
		return -errno;
	memmove(real, real + 1, strlen(real));
	return 0;
}

bool sysroot_real_path(const struct sysroot *root, char real[PATH_MAX], const char *format, ...)
{
	char path[PATH_MAX];
	bool fits;
	int ret;

	MAKE_PATH(path, format, fits);
	ret = fits ? find_real(root, path, real) : -ENAMETOOLONG;
	if (ret != 0)
		refuse(root, path, -ret);
	else
		sysroot_record_path(root->record, real);
	return ret == 0;
}

bool sysroot_exists(const struct sysroot *root, const char *format, ...)
{
	char path[PATH_MAX], resolved[PATH_MAX];
	struct stat st;
	bool fits;

	MAKE_PATH(path, format, fits);
	if (!fits || !resolve_here(root, path, true, resolved) ||
	    fstatat(root->fd, resolved, &st, 0) != 0)
		return false;
	sysroot_record_path(root->record, resolved);
	return true;
}

static DIR *open_directory(const struct sysroot *root, const char *path)
{
	char resolved[PATH_MAX];
	DIR *directory;
	int fd;

	if (!resolve_here(root, path, true, resolved))
		return NULL;
	fd = openat(root->fd, resolved, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		refuse(root, path, errno);
		return NULL;
	}
	sysroot_record_listing(root->record, resolved, fd);
	directory = fdopendir(fd);
	if (directory == NULL)
		close(fd);
	return directory;
}

struct sysroot_walk sysroot_walk(const struct sysroot *root, size_t max, const char *format, ...)
{
	char path[PATH_MAX];
	bool fits;

	MAKE_PATH(path, format, fits);
	return (struct sysroot_walk){.directory = fits ? open_directory(root, path) : NULL,
				     .left = max};
}

const char *sysroot_next(struct sysroot_walk *walk)
{
	const struct dirent *entry;

	while (walk->directory != NULL && (entry = readdir(walk->directory)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		if (walk->left-- > 0)
			return entry->d_name;
		walk->cut = true;
		break;
	}
	sysroot_walk_end(walk);
	return NULL;
}

void sysroot_walk_end(struct sysroot_walk *walk)
{
	if (walk->directory != NULL)
		closedir(walk->directory);
	walk->directory = NULL;
}
