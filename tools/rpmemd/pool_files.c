/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_files.c -- opens parts: missing ones are made exclusively, with all of their
 * blocks, so that no later store can meet a full disk.
 */
#include "pool_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/host/file_sync.h"
#include "mapping.h"
#include "reason.h"

static int failed(const struct pool_file *file, const char *verb, int error)
{
	return reason_set(error, "cannot %s the part %s: %s", verb, file->path, strerror(error));
}

/* --- before anything is opened -------------------------------------------------------- */

static int find_device(struct pool_file *file, const struct stat *st, uint64_t wanted,
		       struct pool_layout_part *part)
{
	struct devdax devdax;

	if (devdax_read(DEVDAX_SYSFS, st->st_rdev, &devdax) != 0)
		return reason_set(EINVAL, "the part %s is neither a file nor device DAX",
				  file->path);
	if (wanted != POOL_SET_AUTO && wanted != devdax.bytes)
		return reason_set(EINVAL,
				  "the part %s has %" PRIu64 " bytes, in the pool set %" PRIu64
				  " (AUTO takes those of the device)",
				  file->path, devdax.bytes, wanted);
	file->device = st->st_rdev;
	file->is_volatile = !devdax.is_persistent;
	part->is_dax = true;
	part->file_bytes = devdax.bytes;
	part->alignment = devdax.alignment;
	return 0;
}

/* Some devices do things when they are opened; a missing part may be made later. */
static int find_file(struct pool_file *file, uint64_t wanted, struct pool_layout_part *part)
{
	struct stat st;

	part->file_bytes = wanted;
	part->alignment = (size_t)sysconf(_SC_PAGESIZE);
	if (stat(file->path, &st) != 0)
		return errno == ENOENT && wanted != POOL_SET_AUTO ? 0 : failed(file, "open", errno);
	if (S_ISCHR(st.st_mode))
		return find_device(file, &st, wanted, part);
	if (!S_ISREG(st.st_mode))
		return reason_set(EINVAL, "the part %s is neither a file nor device DAX",
				  file->path);
	if (wanted == POOL_SET_AUTO)
		return reason_set(EINVAL, "the part %s is a file: AUTO is for device DAX",
				  file->path);
	return 0;
}

int pool_files_find(struct pool_files *files, const struct pool_set *set, enum pool_files_use use)
{
	int ret = 0;

	*files = (struct pool_files){.files = calloc(set->count, sizeof(*files->files)),
				     .layout = calloc(set->count, sizeof(*files->layout))};
	if (files->files == NULL || files->layout == NULL)
		return reason_set(ENOMEM, "out of memory");
	files->count = set->count;
	for (size_t i = 0; i < set->count; i++) {
		files->files[i].path = set->parts[i].path;
		files->files[i].fd = -1;
	}
	for (size_t i = 0; ret == 0 && i < set->count; i++) {
		ret = find_file(&files->files[i], set->parts[i].bytes, &files->layout[i]);
		if (ret == -ENOENT && use == POOL_FILES_REMOVE)
			ret = 0;
	}
	if (ret == 0 && use != POOL_FILES_REMOVE)
		ret = pool_layout(set, files->layout, &files->bytes);
	return ret;
}

/* --- opening -------------------------------------------------------------------------- */

/* Gives a negative errno; holes of a file that was there are filled, its content stays. */
static int allocate(int fd, uint64_t bytes)
{
	int error;

	do
		error = posix_fallocate(fd, 0, (off_t)bytes);
	while (error == EINTR);
	return -error;
}

/* Makes the file's entry in its directory durable. */
static int sync_directory(const char *path)
{
	char copy[PATH_MAX];
	int fd, ret;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno;
	close(fd);
	return ret;
}

static int lock(const struct pool_file *file)
{
	struct stat st;

	if (flock(file->fd, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK
			       ? reason_set(EBUSY,
					    "the part %s is locked: its pool is open elsewhere",
					    file->path)
			       : failed(file, "lock", errno);
	/* between open and flock another process may have removed it */
	if (fstat(file->fd, &st) != 0 || st.st_nlink == 0)
		return reason_set(EBUSY, "the part %s is being removed", file->path);
	return 0;
}

static int make(struct pool_file *file, const struct pool_layout_part *part)
{
	struct stat st;
	int ret;

	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0)
		return failed(file, "create", errno);
	if (fstat(file->fd, &st) != 0) {
		ret = failed(file, "examine", errno);
		unlink(file->path); /* later it could not be told from another one */
		return ret;
	}
	file->made = true;
	file->disk = st.st_dev;
	file->inode = st.st_ino;
	ret = lock(file);
	if (ret)
		return ret;
	ret = allocate(file->fd, part->file_bytes);
	if (ret)
		return reason_set(-ret, "cannot allocate %" PRIu64 " bytes for the part %s: %s",
				  part->file_bytes, file->path, strerror(-ret));
	if (fsync(file->fd) != 0)
		return failed(file, "sync", errno);
	ret = sync_directory(file->path);
	return ret ? failed(file, "sync the directory of", -ret) : 0;
}

static int check_size(const struct pool_file *file, const struct stat *st,
		      const struct pool_layout_part *part, enum pool_files_use use)
{
	int ret;

	if ((uint64_t)st->st_size != part->file_bytes)
		return reason_set(EINVAL, "the part %s has %lld bytes, in the pool set %" PRIu64,
				  file->path, (long long)st->st_size, part->file_bytes);
	if (use == POOL_FILES_INSPECT ||
	    (uint64_t)st->st_blocks * 512 >= part->file_bytes) /* stat(2): units of 512 */
		return 0;
	ret = allocate(file->fd, part->file_bytes);
	return ret ? reason_set(-ret, "cannot fill the holes of the part %s: %s", file->path,
				strerror(-ret))
		   : 0;
}

/* Two parts in one file or device would overwrite each other. */
static int check_others(const struct pool_files *files, const struct pool_file *file)
{
	for (const struct pool_file *other = files->files; other < file; other++) {
		if (other->fd >= 0 && ((other->disk == file->disk && other->inode == file->inode) ||
				       (file->device != 0 && other->device == file->device)))
			return reason_set(EINVAL, "the parts %s and %s are the same", other->path,
					  file->path);
	}
	return 0;
}

static int open_existing(const struct pool_files *files, struct pool_file *file,
			 enum pool_files_use use)
{
	const struct pool_layout_part *part = &files->layout[file - files->files];
	struct stat st;
	int ret;

	if (fstat(file->fd, &st) != 0)
		return failed(file, "examine", errno);
	if (part->is_dax ? !S_ISCHR(st.st_mode) || st.st_rdev != file->device
			 : !S_ISREG(st.st_mode))
		return reason_set(EINVAL, "the part %s was replaced while it was opened",
				  file->path);
	file->disk = st.st_dev;
	file->inode = st.st_ino;
	ret = check_others(files, file);
	if (ret == 0)
		ret = lock(file);
	if (ret == 0 && !part->is_dax && use != POOL_FILES_REMOVE)
		ret = check_size(file, &st, part, use);
	return ret;
}

static int open_part(const struct pool_files *files, struct pool_file *file,
		     enum pool_files_use use)
{
	const struct pool_layout_part *part = &files->layout[file - files->files];

	if (file_sync_new(&file->sync) != 0)
		return reason_set(ENOMEM, "out of memory");
	file->fd = open(file->path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (file->fd >= 0)
		return open_existing(files, file, use);
	if (errno == ENOENT && use == POOL_FILES_CREATE && !part->is_dax)
		return make(file, part);
	if (errno == ENOENT && use == POOL_FILES_REMOVE)
		return 0;
	return failed(file, "open", errno);
}

int pool_files_open(struct pool_files *files, enum pool_files_use use)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < files->count; i++)
		ret = open_part(files, &files->files[i], use);
	return ret;
}

/* --- the end -------------------------------------------------------------------------- */

static int remove_file(const struct pool_file *file)
{
	struct stat st;

	if (stat(file->path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (st.st_dev != file->disk || st.st_ino != file->inode) /* it was replaced */
		return -EBUSY;
	return unlink(file->path) == 0 ? 0 : -errno;
}

int pool_files_unlink(const struct pool_file *file)
{
	const int ret = remove_file(file);

	return ret ? failed(file, "remove", -ret) : 0;
}

void pool_files_close(struct pool_files *files, bool remove_made)
{
	for (size_t i = 0; i < files->count; i++) {
		struct pool_file *file = &files->files[i];

		/* while it is locked */
		if (remove_made && file->made)
			remove_file(file);
		if (file->fd >= 0)
			close(file->fd);
		file_sync_delete(&file->sync);
	}
	free(files->files);
	free(files->layout);
	memset(files, 0, sizeof(*files));
}
