/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c -- open(), access(), readlink(), realpath() and their kin, for files of the device. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"

/* --- open --- */

static mode_t mode_of(int flags, va_list args)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t)
									  : 0;
}

LIBC_CALL(int, open, const char *path, int flags, ...)
{
	const struct tree_node node = FIND(AT_FDCWD, path, (flags & O_NOFOLLOW) == 0);
	va_list args;
	mode_t mode;

	if (node.kind != TREE_OTHER)
		return file_open(&node, flags);
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return NEXT(open)(path, flags, mode);
}

LIBC_CALL(int, openat, int at, const char *path, int flags, ...)
{
	const struct tree_node node = FIND(at, path, (flags & O_NOFOLLOW) == 0);
	va_list args;
	mode_t mode;

	if (node.kind != TREE_OTHER)
		return file_open(&node, flags);
	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return NEXT(openat)(at, path, flags, mode);
}

/* _FORTIFY_SOURCE has these for calls without a mode. */
LIBC_CALL(int, __open_2, const char *path, int flags)
{
	ANSWER(FIND(AT_FDCWD, path, (flags & O_NOFOLLOW) == 0), file_open(&node, flags),
	       NEXT(__open_2)(path, flags));
}

LIBC_CALL(int, __openat_2, int at, const char *path, int flags)
{
	ANSWER(FIND(at, path, (flags & O_NOFOLLOW) == 0), file_open(&node, flags),
	       NEXT(__openat_2)(at, path, flags));
}

LIBC_ALIAS(int, open64, open, const char *path, int flags, ...);
LIBC_ALIAS(int, openat64, openat, int at, const char *path, int flags, ...);
LIBC_ALIAS(int, __open64_2, __open_2, const char *path, int flags);
LIBC_ALIAS(int, __openat64_2, __openat_2, int at, const char *path, int flags);

LIBC_CALL(FILE *, fopen, const char *path, const char *mode)
{
	const struct tree_node node = FIND(AT_FDCWD, path, true);
	FILE *file;
	int fd;

	if (node.kind == TREE_OTHER)
		return NEXT(fopen)(path, mode);
	fd = file_open(&node, (mode[0] == 'r' ? O_RDONLY : O_WRONLY | O_CREAT) |
				      (strchr(mode, '+') != NULL ? O_RDWR : 0) |
				      (strchr(mode, 'e') != NULL ? O_CLOEXEC : 0));
	if (fd < 0)
		return NULL;
	file = fdopen(fd, mode);
	if (file == NULL)
		close(fd);
	return file;
}

LIBC_ALIAS(FILE *, fopen64, fopen, const char *path, const char *mode);

/* --- access --- */

LIBC_CALL(int, access, const char *path, int mode)
{
	ANSWER(FIND(AT_FDCWD, path, true), file_access(&node, mode), NEXT(access)(path, mode));
}

LIBC_CALL(int, euidaccess, const char *path, int mode)
{
	ANSWER(FIND(AT_FDCWD, path, true), file_access(&node, mode), NEXT(euidaccess)(path, mode));
}

LIBC_ALIAS(int, eaccess, euidaccess, const char *path, int mode);

LIBC_CALL(int, faccessat, int at, const char *path, int mode, int flags)
{
	ANSWER(FIND(at, path, (flags & AT_SYMLINK_NOFOLLOW) == 0), file_access(&node, mode),
	       NEXT(faccessat)(at, path, mode, flags));
}

/* --- links --- */

static ssize_t read_link(const struct tree_node *node, char *buf, size_t bytes)
{
	char text[TREE_TEXT_MAX];
	size_t length;

	if (node->kind != TREE_LINK)
		return call_fail(node->kind == TREE_MISSING ? ENOENT : EINVAL);
	length = tree_text(node, text);
	if (length > bytes)
		length = bytes;
	memcpy(buf, text, length);
	return (ssize_t)length;
}

LIBC_CALL(ssize_t, readlink, const char *path, char *buf, size_t bytes)
{
	ANSWER(FIND(AT_FDCWD, path, false), read_link(&node, buf, bytes),
	       NEXT(readlink)(path, buf, bytes));
}

LIBC_CALL(ssize_t, readlinkat, int at, const char *path, char *buf, size_t bytes)
{
	ANSWER(FIND(at, path, false), read_link(&node, buf, bytes),
	       NEXT(readlinkat)(at, path, buf, bytes));
}

LIBC_CALL(ssize_t, __readlink_chk, const char *path, char *buf, size_t bytes, size_t room)
{
	const struct tree_node node = FIND(AT_FDCWD, path, false);

	return node.kind != TREE_OTHER && bytes <= room
		       ? read_link(&node, buf, bytes)
		       : NEXT(__readlink_chk)(path, buf, bytes, room);
}

LIBC_CALL(ssize_t, __readlinkat_chk, int at, const char *path, char *buf, size_t bytes, size_t room)
{
	const struct tree_node node = FIND(at, path, false);

	return node.kind != TREE_OTHER && bytes <= room
		       ? read_link(&node, buf, bytes)
		       : NEXT(__readlinkat_chk)(at, path, buf, bytes, room);
}

/* `resolved` has room for PATH_MAX, or is NULL. */
static char *real_path(const struct tree_node *node, char *resolved)
{
	if (node->kind == TREE_MISSING)
		return call_fail(ENOENT), NULL;
	if (resolved == NULL && (resolved = malloc(PATH_MAX)) == NULL)
		return NULL;
	tree_path(node, resolved, PATH_MAX);
	return resolved;
}

LIBC_CALL(char *, realpath, const char *path, char *resolved)
{
	ANSWER(FIND(AT_FDCWD, path, true), real_path(&node, resolved),
	       NEXT(realpath)(path, resolved));
}

LIBC_CALL(char *, __realpath_chk, const char *path, char *resolved, size_t room)
{
	const struct tree_node node = FIND(AT_FDCWD, path, true);

	return node.kind != TREE_OTHER && room >= PATH_MAX
		       ? real_path(&node, resolved)
		       : NEXT(__realpath_chk)(path, resolved, room);
}

LIBC_CALL(char *, canonicalize_file_name, const char *path)
{
	ANSWER(FIND(AT_FDCWD, path, true), real_path(&node, NULL),
	       NEXT(canonicalize_file_name)(path));
}
