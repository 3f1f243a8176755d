/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stat.c -- stat() and its kin, for files of the device. Those with an x, of programs that were
 * linked with glibc before 2.33, begin with a version of struct stat.
 */
#include <string.h>
#include <sys/sysmacros.h>

#include "call.h"

static int answer(const struct tree_node *node, struct stat *st)
{
	if (node->kind == TREE_MISSING)
		return call_fail(ENOENT);
	file_stat(node, st);
	return 0;
}

/* fstatat() and statx() take an empty path for the descriptor itself. */
static struct tree_node find_at(int at, const char *path, int flags, const void *caller)
{
	struct tree_node node = {.kind = TREE_OTHER};

	if ((flags & AT_EMPTY_PATH) != 0 && (path == NULL || path[0] == '\0')) {
		if (!call_is_folder(at, &node))
			node.kind = TREE_OTHER;
		return node;
	}
	return call_find(at, path, (flags & AT_SYMLINK_NOFOLLOW) == 0, caller);
}

LIBC_CALL(int, stat, const char *path, struct stat *st)
{
	ANSWER(FIND(AT_FDCWD, path, true), answer(&node, st), NEXT(stat)(path, st));
}

LIBC_CALL(int, lstat, const char *path, struct stat *st)
{
	ANSWER(FIND(AT_FDCWD, path, false), answer(&node, st), NEXT(lstat)(path, st));
}

LIBC_CALL(int, fstat, int fd, struct stat *st)
{
	struct tree_node node;

	return call_is_folder(fd, &node) ? answer(&node, st) : NEXT(fstat)(fd, st);
}

LIBC_CALL(int, fstatat, int at, const char *path, struct stat *st, int flags)
{
	ANSWER(find_at(at, path, flags, __builtin_return_address(0)), answer(&node, st),
	       NEXT(fstatat)(at, path, st, flags));
}

LIBC_CALL(int, __xstat, int version, const char *path, struct stat *st)
{
	ANSWER(FIND(AT_FDCWD, path, true), answer(&node, st), NEXT(__xstat)(version, path, st));
}

LIBC_CALL(int, __lxstat, int version, const char *path, struct stat *st)
{
	ANSWER(FIND(AT_FDCWD, path, false), answer(&node, st), NEXT(__lxstat)(version, path, st));
}

LIBC_CALL(int, __fxstat, int version, int fd, struct stat *st)
{
	struct tree_node node;

	return call_is_folder(fd, &node) ? answer(&node, st) : NEXT(__fxstat)(version, fd, st);
}

LIBC_CALL(int, __fxstatat, int version, int at, const char *path, struct stat *st, int flags)
{
	ANSWER(find_at(at, path, flags, __builtin_return_address(0)), answer(&node, st),
	       NEXT(__fxstatat)(version, at, path, st, flags));
}

LIBC_ALIAS(int, stat64, stat, const char *path, struct stat *st);
LIBC_ALIAS(int, lstat64, lstat, const char *path, struct stat *st);
LIBC_ALIAS(int, fstat64, fstat, int fd, struct stat *st);
LIBC_ALIAS(int, fstatat64, fstatat, int at, const char *path, struct stat *st, int flags);
LIBC_ALIAS(int, __xstat64, __xstat, int version, const char *path, struct stat *st);
LIBC_ALIAS(int, __lxstat64, __lxstat, int version, const char *path, struct stat *st);
LIBC_ALIAS(int, __fxstat64, __fxstat, int version, int fd, struct stat *st);
LIBC_ALIAS(int, __fxstatat64, __fxstatat, int version, int at, const char *path, struct stat *st,
	   int flags);

LIBC_CALL(int, statx, int at, const char *path, int flags, unsigned mask, struct statx *stx)
{
	const struct tree_node node = find_at(at, path, flags, __builtin_return_address(0));
	struct stat st = {.st_mode = 0};

	if (node.kind == TREE_OTHER)
		return NEXT(statx)(at, path, flags, mask, stx);
	if (answer(&node, &st) != 0)
		return -1;
	memset(stx, 0, sizeof(*stx));
	stx->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_INO |
			STATX_SIZE;
	stx->stx_mode = (uint16_t)st.st_mode;
	stx->stx_nlink = (uint32_t)st.st_nlink;
	stx->stx_ino = st.st_ino;
	stx->stx_size = (uint64_t)st.st_size;
	stx->stx_blksize = (uint32_t)st.st_blksize;
	stx->stx_rdev_major = major(st.st_rdev);
	stx->stx_rdev_minor = minor(st.st_rdev);
	return 0;
}
