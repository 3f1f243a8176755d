/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_medium.h -- where the content of a file is kept, and with it what
 * msync(2) of it is worth.
 *
 * The file system tells, by statfs(2). An overlay is looked through to its
 * upper layer, a loop device to its backing file; what cannot be seen, or is
 * not known to store, is unknown. A disk that loses what it has acknowledged is
 * beyond this, and so are devices that are stacked by the device mapper.
 */
#pragma once

#include "mounts.h"

enum file_medium {
	FILE_MEDIUM_UNKNOWN,
	FILE_MEDIUM_MEMORY,  /* gone when power is: tmpfs, ramfs, hugetlbfs, a RAM disk */
	FILE_MEDIUM_STORAGE, /* what was synced is kept */
};

/* The medium of an open file. */
enum file_medium file_medium(int fd);

/* --- within file_medium.c, and for its tests ------------------------------------ */

/* From the f_type of statfs(2); an overlay's is unknown. */
enum file_medium file_medium_of_type(long type);

/*
 * The path of a file of an overlay in its upper layer: `id` is the number of the file's
 * mount, `path` the file's. False: it is not an overlay, syncs nothing (volatile), has no
 * upper layer, or does not fit.
 */
bool file_medium_upper(const struct mounts *mounts, long id, const char *path, char *upper,
		       size_t size);
