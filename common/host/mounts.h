/* SPDX-License-Identifier: BSD-3-Clause */
/* mounts.h -- what is mounted where: the lines of /proc/self/mountinfo (proc(5)). */
#pragma once

#include "sysroot.h"

struct mount {
	long id;
	unsigned major, minor;
	char *root, *point;	/* what of the file system is mounted, and where */
	char *options;		/* the mount's: "rw,noatime" */
	char *type, *source;	/* "ext4", "/dev/pmem0" */
	const char *fs_options; /* the file system's, as they stand there */
};

struct mounts {
	char *text; /* owned; the mounts point into it */
	struct mount *list;
	size_t count;
};

/* Takes a text on the heap, which they own; none where it is NULL, or has other lines. */
void mounts_take(struct mounts *mounts, char *text);
void mounts_read(const struct sysroot *root, struct mounts *mounts);
void mounts_free(struct mounts *mounts);

/* The numbers of a device as the kernel writes them: "259:0". */
bool mounts_read_device(const char *text, unsigned int *major, unsigned int *minor);

/* The kernel writes blanks, backslashes and the like as "\040". */
void mounts_unescape(char *text);
