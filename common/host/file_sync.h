/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_sync.h -- msync(2) of one open file by many threads, none of which misses a failure.
 *
 * The kernel reports a failed write-back once for each open file description (errseq_t
 * in lib/errseq.c), to whichever msync() comes first. That may be another thread's, and the
 * one whose data are lost succeeds. So all who map a description share its file_sync: once a
 * call has failed, so do those that ran at the same time and all that follow.
 */
#pragma once

#include <stddef.h>

struct file_sync; /* one for each open file description */

/* 0 or -ENOMEM. */
int file_sync_new(struct file_sync **sync);
/* NULL is fine. */
void file_sync_delete(struct file_sync **sync);

/*
 * Writes the pages of the range to the file, and waits until no other call can hold a
 * failure of theirs. 0, or the negative errno of the first call that failed. Any thread.
 */
int file_sync_range(struct file_sync *sync, void *memory, size_t bytes);
