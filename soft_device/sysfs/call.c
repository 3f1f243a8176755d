/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.c -- from the path of a call to a node of the tree.
 *
 * A folder that is opened has a memfd as its descriptor, whose name is the path: so calls with
 * paths relative to it need no table of descriptors, and dup() and close() no attention.
 */
#include "call.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOLDER_NAME "rpma-soft:" /* before the path, in the name of the memfd */
#define FOLDER_LINK "/memfd:" FOLDER_NAME
#define DELETED	    " (deleted)" /* the kernel writes it behind the name */

/* True once any was opened: until then no descriptor has to be looked at. */
static atomic_bool folder_was_opened;

int call_fail(int error)
{
	errno = error;
	return -1;
}

/* The path of a descriptor, by a call that is not answered here. */
static bool path_of(int fd, char *path, size_t bytes)
{
	char link[32];
	ssize_t length;

	if (fd == AT_FDCWD)
		snprintf(link, sizeof(link), "/proc/self/cwd");
	else
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, bytes - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	if (strncmp(path, FOLDER_LINK, strlen(FOLDER_LINK)) == 0) {
		char *end = strstr(path, DELETED);

		if (end != NULL)
			*end = '\0';
		memmove(path, path + strlen(FOLDER_LINK), strlen(path + strlen(FOLDER_LINK)) + 1);
		return true;
	}
	return strncmp(path, "/memfd:", 7) != 0;
}

bool call_is_folder(int fd, struct tree_node *node)
{
	const int error = errno;
	char path[PATH_MAX];
	bool is = false;

	if (fd < 0 || !atomic_load_explicit(&folder_was_opened, memory_order_relaxed))
		return false;
	if (path_of(fd, path, sizeof(path))) {
		*node = tree_find(path, true);
		is = node->kind == TREE_FOLDER;
	}
	errno = error;
	return is;
}

/* True if the call is one of a libibverbs that was loaded by its path, or is within the program. */
static bool is_real_library(const void *caller)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const char *slash;
	Dl_info info;

	if (dladdr(caller, &info) == 0 || info.dli_fname == NULL)
		return false;
	slash = strrchr(info.dli_fname, '/');
	if (strncmp(slash != NULL ? slash + 1 : info.dli_fname, "libibverbs.so", 13) != 0)
		return false;
	if (!atomic_flag_test_and_set(&told))
		process_warn("%s was loaded by its path: what calls it is not on the software "
			     "device; load libibverbs.so.1 by its name (rpma-soft(1), LOADING)",
			     info.dli_fname);
	return true;
}

struct tree_node call_find(int at, const char *path, bool follow, const void *caller)
{
	struct tree_node node = {.kind = TREE_OTHER};
	const int error = errno;
	char joined[PATH_MAX];
	size_t length;

	if (path == NULL ||
	    (!tree_may_know(path) &&
	     (path[0] == '/' || !atomic_load_explicit(&folder_was_opened, memory_order_relaxed))))
		return node;
	if (path[0] == '/') {
		node = tree_find(path, follow);
	} else if (path_of(at, joined, sizeof(joined))) {
		length = strlen(joined);
		snprintf(joined + length, sizeof(joined) - length, "/%s", path);
		node = tree_find(joined, follow);
	}
	if (node.kind != TREE_OTHER && is_real_library(caller))
		node.kind = TREE_OTHER;
	errno = error;
	return node;
}

/* --- what a node is as a file --- */

static int text_open(const struct tree_node *node, unsigned flags)
{
	char text[TREE_TEXT_MAX];
	const size_t length = tree_text(node, text);
	const int fd = memfd_create("rpma-soft", flags);

	if (fd >= 0 &&
	    (write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		return call_fail(EIO);
	}
	return fd;
}

static int folder_open(const struct tree_node *node, unsigned flags)
{
	char name[NAME_MAX] = FOLDER_NAME;

	tree_path(node, name + strlen(FOLDER_NAME), sizeof(name) - strlen(FOLDER_NAME));
	atomic_store(&folder_was_opened, true);
	return memfd_create(name, flags);
}

int file_open(const struct tree_node *node, int flags)
{
	const unsigned memfd_flags = (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0;
	const bool writes = (flags & O_ACCMODE) != O_RDONLY;

	switch (node->kind) {
	case TREE_FOLDER:
		return writes ? call_fail(EISDIR) : folder_open(node, memfd_flags);
	case TREE_FILE:
		if ((flags & O_DIRECTORY) != 0)
			return call_fail(ENOTDIR);
		return writes ? call_fail(EACCES) : text_open(node, memfd_flags);
	case TREE_LINK: /* O_NOFOLLOW */
		return call_fail(ELOOP);
	case TREE_DEVICE:
		return call_fail((flags & O_DIRECTORY) != 0 ? ENOTDIR : ENXIO);
	default:
		return call_fail((flags & O_CREAT) != 0 ? EACCES : ENOENT);
	}
}

int file_access(const struct tree_node *node, int mode)
{
	if (node->kind == TREE_MISSING)
		return call_fail(ENOENT);
	if (((mode & W_OK) != 0 && node->kind != TREE_DEVICE) ||
	    ((mode & X_OK) != 0 && node->kind != TREE_FOLDER))
		return call_fail(EACCES);
	return 0;
}

void file_stat(const struct tree_node *node, struct stat *st)
{
	char text[TREE_TEXT_MAX];

	memset(st, 0, sizeof(*st));
	st->st_nlink = 1;
	st->st_blksize = 4096;
	st->st_ino = tree_number(node);
	switch (node->kind) {
	case TREE_FOLDER:
		st->st_mode = S_IFDIR | 0755;
		st->st_nlink = 2;
		break;
	case TREE_LINK:
		st->st_mode = S_IFLNK | 0777;
		st->st_size = (off_t)tree_text(node, text);
		break;
	case TREE_DEVICE:
		st->st_mode = S_IFCHR | 0666;
		st->st_rdev = tree_device_number(node);
		break;
	default:
		st->st_mode = S_IFREG | 0444;
		st->st_size = 4096; /* as in sysfs */
	}
}
