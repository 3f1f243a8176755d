/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * folders.c -- opendir(), readdir() and their kin, scandir() and glob(), for folders of the device.
 *
 * opendir() of one returns a struct folder; those that are open are in a list, by which the
 * other calls tell them from libc's.
 */
#include <dirent.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"

#define DOTS 2 /* "." and ".." come first */

struct folder {
	struct tree_node node;
	int fd;
	long position;
	struct dirent entry; /* what readdir() gave last */
	struct folder *next; /* lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct folder *_Atomic folders; /* writes and walks: lock */
const struct process_part folders_part = {.lock = &lock};

/* The folder that a DIR is; NULL for one of libc. Each is used by one thread at a time. */
static struct folder *folder_of(void *dir)
{
	struct folder *folder = atomic_load_explicit(&folders, memory_order_relaxed);

	if (folder == NULL)
		return NULL;
	pthread_mutex_lock(&lock);
	folder = folders;
	while (folder != NULL && folder != dir)
		folder = folder->next;
	pthread_mutex_unlock(&lock);
	return folder;
}

static void *folder_new(const struct tree_node *node, int fd)
{
	struct folder *folder = fd >= 0 ? calloc(1, sizeof(*folder)) : NULL;

	if (folder == NULL)
		return NULL;
	folder->node = *node;
	folder->fd = fd;
	pthread_mutex_lock(&lock);
	folder->next = folders;
	folders = folder;
	pthread_mutex_unlock(&lock);
	return folder;
}

static int folder_delete(struct folder *folder)
{
	const int fd = folder->fd;
	struct folder *first;

	pthread_mutex_lock(&lock);
	first = folders;
	LIST_TAKE_OUT(first, folder, next);
	folders = first;
	pthread_mutex_unlock(&lock);
	free(folder);
	return close(fd);
}

static unsigned char type_of(enum tree_kind kind)
{
	return kind == TREE_FOLDER ? DT_DIR
	       : kind == TREE_LINK ? DT_LNK
	       : kind == TREE_FILE ? DT_REG
				   : DT_CHR;
}

static struct dirent *folder_read(struct folder *folder)
{
	struct tree_node entry = folder->node;
	char name[TREE_NAME_MAX] = "..";

	if (folder->position == 0)
		name[1] = '\0';
	else if (folder->position >= DOTS &&
		 !tree_entry(&folder->node, (size_t)folder->position - DOTS, name, &entry))
		return NULL;
	folder->position++;
	folder->entry = (struct dirent){.d_ino = tree_number(&entry),
					.d_off = folder->position,
					.d_reclen = sizeof(folder->entry),
					.d_type = type_of(entry.kind)};
	memcpy(folder->entry.d_name, name, sizeof(name));
	return &folder->entry;
}

/* --- of a DIR --- */

LIBC_CALL(void *, opendir, const char *path)
{
	const struct tree_node node = FIND(AT_FDCWD, path, true);
	void *folder;
	int fd;

	if (node.kind == TREE_OTHER)
		return NEXT(opendir)(path);
	fd = file_open(&node, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = folder_new(&node, fd);
	if (folder == NULL && fd >= 0)
		close(fd);
	return folder;
}

LIBC_CALL(void *, fdopendir, int fd)
{
	struct tree_node node;

	return call_is_folder(fd, &node) ? folder_new(&node, fd) : NEXT(fdopendir)(fd);
}

LIBC_CALL(struct dirent *, readdir, void *dir)
{
	struct folder *folder = folder_of(dir);

	return folder != NULL ? folder_read(folder) : NEXT(readdir)(dir);
}

LIBC_CALL(int, readdir_r, void *dir, struct dirent *entry, struct dirent **result)
{
	struct folder *folder = folder_of(dir);

	if (folder == NULL)
		return NEXT(readdir_r)(dir, entry, result);
	*result = folder_read(folder);
	if (*result != NULL) {
		*entry = **result;
		*result = entry;
	}
	return 0;
}

LIBC_CALL(int, closedir, void *dir)
{
	struct folder *folder = folder_of(dir);

	return folder != NULL ? folder_delete(folder) : NEXT(closedir)(dir);
}

LIBC_CALL(int, dirfd, void *dir)
{
	const struct folder *folder = folder_of(dir);

	return folder != NULL ? folder->fd : NEXT(dirfd)(dir);
}

LIBC_CALL(void, rewinddir, void *dir)
{
	struct folder *folder = folder_of(dir);

	if (folder != NULL)
		folder->position = 0;
	else
		NEXT(rewinddir)(dir);
}

LIBC_CALL(long, telldir, void *dir)
{
	const struct folder *folder = folder_of(dir);

	return folder != NULL ? folder->position : NEXT(telldir)(dir);
}

LIBC_CALL(void, seekdir, void *dir, long position)
{
	struct folder *folder = folder_of(dir);

	if (folder != NULL)
		folder->position = position;
	else
		NEXT(seekdir)(dir, position);
}

LIBC_ALIAS(struct dirent *, readdir64, readdir, void *dir);
LIBC_ALIAS(int, readdir64_r, readdir_r, void *dir, struct dirent *entry, struct dirent **result);

/* --- of a path --- */

typedef int filter_function(const struct dirent *entry);
typedef int compare_function(const struct dirent **a, const struct dirent **b);

static int list_delete(struct dirent **list, size_t count)
{
	while (count-- > 0)
		free(list[count]);
	free(list);
	return call_fail(ENOMEM);
}

static int scan(const struct tree_node *node, struct dirent ***result, filter_function *filter,
		compare_function *compare)
{
	struct folder folder = {.node = *node};
	struct dirent **list = NULL, *entry;
	size_t count = 0;

	if (node->kind != TREE_FOLDER)
		return call_fail(node->kind == TREE_MISSING ? ENOENT : ENOTDIR);
	while ((entry = folder_read(&folder)) != NULL) {
		struct dirent **longer, *copy;

		if (filter != NULL && filter(entry) == 0)
			continue;
		longer = reallocarray(list, count + 1, sizeof(struct dirent *));
		copy = longer != NULL ? malloc(sizeof(*copy)) : NULL;
		if (longer != NULL)
			list = longer;
		if (copy == NULL)
			return list_delete(list, count);
		*copy = *entry;
		list[count++] = copy;
	}
	if (compare != NULL && count > 0)
		qsort(list, count, sizeof(struct dirent *),
		      (int (*)(const void *, const void *))(void *)compare);
	*result = list;
	return (int)count;
}

LIBC_CALL(int, scandir, const char *path, struct dirent ***result, filter_function *filter,
	  compare_function *compare)
{
	ANSWER(FIND(AT_FDCWD, path, true), scan(&node, result, filter, compare),
	       NEXT(scandir)(path, result, filter, compare));
}

LIBC_CALL(int, scandirat, int at, const char *path, struct dirent ***result,
	  filter_function *filter, compare_function *compare)
{
	ANSWER(FIND(at, path, true), scan(&node, result, filter, compare),
	       NEXT(scandirat)(at, path, result, filter, compare));
}

LIBC_ALIAS(int, scandir64, scandir, const char *path, struct dirent ***result,
	   filter_function *filter, compare_function *compare);
LIBC_ALIAS(int, scandirat64, scandirat, int at, const char *path, struct dirent ***result,
	   filter_function *filter, compare_function *compare);

/* libc's own, which reads folders by the calls above. */
LIBC_CALL(int, glob, const char *pattern, int flags, int (*failed)(const char *, int),
	  glob_t *found)
{
	if (!tree_may_know(pattern) || (flags & GLOB_ALTDIRFUNC) != 0)
		return NEXT(glob)(pattern, flags, failed, found);
	found->gl_opendir = (void *(*)(const char *))sysfs_opendir;
	found->gl_readdir = sysfs_readdir;
	found->gl_closedir = (void (*)(void *))(void *)sysfs_closedir;
	found->gl_stat = stat;
	found->gl_lstat = lstat;
	return NEXT(glob)(pattern, flags | GLOB_ALTDIRFUNC, failed, found);
}

LIBC_ALIAS(int, glob64, glob, const char *pattern, int flags, int (*failed)(const char *, int),
	   glob_t *found);
