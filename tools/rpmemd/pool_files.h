/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pool_files.h -- the files or device DAX nodes of a pool's parts: made, checked and
 * locked.
 *
 * A part is locked by flock(2), as libpmemobj locks it, for as long as it is open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pool_set.h"

struct pool_file {
	char *path;		/* borrowed from the set */
	int fd;			/* locked; -1: not open */
	struct file_sync *sync; /* for all that map fd */
	dev_t device;		/* device DAX; else 0 */
	bool is_volatile;	/* device DAX that is not known to be persistent */
	dev_t disk;		/* with the inode: which file is open */
	ino_t inode;
	bool made;	  /* by pool_files_open() */
	bool header_made; /* pool_headers_create() has put a header into it */
};

struct pool_files {
	size_t count;
	struct pool_file *files;
	struct pool_layout_part *layout; /* one for each file */
	size_t bytes;			 /* the size of the pool */
};

enum pool_files_use {
	POOL_FILES_CREATE,  /* parts that are missing are made */
	POOL_FILES_OPEN,    /* holes are filled, so that no store meets a full disk */
	POOL_FILES_INSPECT, /* holes stay */
	POOL_FILES_REMOVE,  /* parts may be missing, or have any size */
};

/*
 * Finds out what the parts of the set are and lays them out; opens nothing. The set must
 * outlive it. Free it with pool_files_close(), also after a failure.
 */
int pool_files_find(struct pool_files *files, const struct pool_set *set, enum pool_files_use use);

/*
 * Opens and locks all, or fails with the error message set. -ENOENT: a part is missing;
 * -EBUSY: it is locked; -EINVAL: its size is not that of the set, or it is neither a file
 * nor device DAX; others as open(2) and posix_fallocate(3).
 */
int pool_files_open(struct pool_files *files, enum pool_files_use use);

/* Removes the file, if it is still the one that was opened. Not of device DAX. */
int pool_files_unlink(const struct pool_file *file);

/* Unlocks and closes; with `remove_made` removes the files that pool_files_open() has made. */
void pool_files_close(struct pool_files *files, bool remove_made);
