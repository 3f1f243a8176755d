/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sysroot_record.c -- copies what a sysroot looks at into a tree of its own,
 * for rpma-ddio-check --dump-facts.
 *
 * The copy has what was read, the links on the way and the names of what was
 * listed. A file whose bytes are not known, be it for want of a permission,
 * stands there as an empty directory: it exists and cannot be read, as on the
 * machine. The first thing that goes wrong is kept and ends the copying.
 */
#include "sysroot_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "anonymise.h"
#include "common/base/failure.h"
#include "sysroot.h"

#define STEP "dump"

struct sysroot_record {
	int fd;	   /* the new root's */
	int error; /* the first; 0: none */
	char directory[PATH_MAX];
	char failed[PATH_MAX]; /* where it was */
	uint8_t key[ANONYMISE_KEY_BYTES];
};

static void fail(struct sysroot_record *record, const char *path)
{
	if (record->error == 0) {
		record->error = errno;
		snprintf(record->failed, sizeof(record->failed), "%s", path);
	}
}

/* A text as the copy has it: names may carry hardware addresses. */
static void name_here(const struct sysroot_record *record, const char *text, char here[PATH_MAX])
{
	snprintf(here, PATH_MAX, "%s", text);
	anonymise_text(record->key, here, strlen(here));
}

/* A file whose bytes were not known stands as a directory, so its parents may too. */
static bool make_directory(const struct sysroot_record *record, const char *copy)
{
	struct stat st;

	if (mkdirat(record->fd, copy, 0755) == 0)
		return true;
	return errno == EEXIST && fstatat(record->fd, copy, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

/* The directories above a copy. */
static bool make_parents(struct sysroot_record *record, char *copy)
{
	for (char *slash = strchr(copy, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		bool made;

		*slash = '\0';
		made = make_directory(record, copy);
		if (!made)
			fail(record, copy);
		*slash = '/';
		if (!made)
			return false;
	}
	return true;
}

/* Names the copy of a path and makes the directories above it; false: there is none. */
static bool prepare(struct sysroot_record *record, const char *path, char copy[PATH_MAX])
{
	if (record == NULL || record->error != 0)
		return false;
	name_here(record, path, copy);
	return make_parents(record, copy);
}

void sysroot_record_link(struct sysroot_record *record, const char *path, const char *target)
{
	char copy[PATH_MAX], points_to[PATH_MAX];

	if (!prepare(record, path, copy))
		return;
	name_here(record, target, points_to);
	if (symlinkat(points_to, record->fd, copy) != 0 && errno != EEXIST)
		fail(record, copy);
}

/* False where there is nothing to write: more of the file is there already. */
static bool open_copy(struct sysroot_record *record, const char *copy, int64_t end, int *fd)
{
	struct stat st;

	unlinkat(record->fd, copy, AT_REMOVEDIR);
	*fd = openat(record->fd, copy, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (*fd < 0 || fstat(*fd, &st) != 0) {
		fail(record, copy);
		return false;
	}
	return st.st_size < end || end == 0;
}

static bool write_all(int fd, int64_t offset, const char *bytes, size_t len)
{
	ssize_t put = 0;

	for (size_t done = 0; done < len; done += (size_t)put) {
		put = pwrite(fd, bytes + done, len - done, offset + (int64_t)done);
		if (put <= 0)
			return false;
	}
	return true;
}

void sysroot_record_bytes(struct sysroot_record *record, const char *path, int64_t offset,
			  const void *bytes, size_t len)
{
	char copy[PATH_MAX];
	char *content;
	int fd = -1;

	if (!prepare(record, path, copy))
		return;
	content = malloc(len > 0 ? len : 1);
	if (content == NULL) {
		fail(record, copy);
		return;
	}
	memcpy(content, bytes, len);
	if (offset == 0)
		len = anonymise_file(record->key, path, content, len);
	if (open_copy(record, copy, offset + (int64_t)len, &fd) &&
	    !write_all(fd, offset, content, len))
		fail(record, copy);
	if (fd >= 0)
		close(fd);
	free(content);
}

void sysroot_record_path(struct sysroot_record *record, const char *path)
{
	char copy[PATH_MAX];

	if (!prepare(record, path, copy))
		return;
	if (mkdirat(record->fd, copy, 0755) != 0 && errno != EEXIST)
		fail(record, copy);
}

static void record_entry(struct sysroot_record *record, const char *path, int fd, const char *name)
{
	char below[PATH_MAX], target[PATH_MAX];
	ssize_t len;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    snprintf(below, sizeof(below), "%s/%s", path, name) >= PATH_MAX)
		return;
	len = readlinkat(fd, name, target, sizeof(target) - 1);
	if (len < 0) {
		sysroot_record_path(record, below);
		return;
	}
	target[len] = '\0';
	sysroot_record_link(record, below, target);
}

void sysroot_record_listing(struct sysroot_record *record, const char *path, int fd)
{
	const struct dirent *entry;
	DIR *directory;
	int again;

	if (record == NULL || record->error != 0)
		return;
	sysroot_record_path(record, path);
	again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory = again < 0 ? NULL : fdopendir(again);
	if (directory == NULL) {
		fail(record, path);
		if (again >= 0)
			close(again);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		record_entry(record, path, fd, entry->d_name);
	closedir(directory);
}

/* One that was not there, or an empty one: what is in it is not ours to mix with. */
static int claim(const char *path)
{
	const struct dirent *entry;
	bool empty = true;
	DIR *directory;

	if (mkdir(path, 0755) != 0 && errno != EEXIST)
		return -errno;
	directory = opendir(path);
	if (directory == NULL)
		return -errno;
	while ((entry = readdir(directory)) != NULL)
		empty = empty &&
			(strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
	closedir(directory);
	return empty ? 0 : -ENOTEMPTY;
}

int sysroot_record(struct sysroot *root, const char *directory)
{
	struct sysroot_record *record = calloc(1, sizeof(*record));
	int ret = record == NULL ? -ENOMEM : claim(directory);

	if (ret == 0) {
		snprintf(record->directory, sizeof(record->directory), "%s", directory);
		record->fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (record->fd < 0 ||
		    getrandom(record->key, sizeof(record->key), 0) != (ssize_t)sizeof(record->key))
			ret = -errno;
	}
	if (ret != 0) {
		free(record);
		return failure_set(EXIT_RUN_FAILED, STEP,
				   "%s: %s; expected a new or an empty directory", directory,
				   strerror(-ret));
	}
	root->record = record;
	return 0;
}

int sysroot_record_end(struct sysroot *root)
{
	struct sysroot_record *record = root->record;
	int ret = 0;

	if (record == NULL)
		return 0;
	if (record->error != 0)
		ret = failure_set(EXIT_RUN_FAILED, STEP, "%s/%s: %s", record->directory,
				  record->failed, strerror(record->error));
	sysroot_record_free(record);
	root->record = NULL;
	return ret;
}

void sysroot_record_text(const struct sysroot *root, char *text)
{
	if (root->record != NULL)
		anonymise_text(root->record->key, text, strlen(text));
}

void sysroot_record_free(struct sysroot_record *record)
{
	if (record == NULL)
		return;
	close(record->fd);
	explicit_bzero(record->key, sizeof(record->key));
	free(record);
}
