/* SPDX-License-Identifier: BSD-3-Clause */
/* text_file.h -- the whole of a small file, and its lines: a pool set, a configuration. */
#pragma once

#include <stddef.h>

/*
 * Reads all of the open file; the caller frees *text, which has no NUL at its end.
 * `path` is for the error message. -EINVAL: it is not a regular file, or is larger than max.
 */
int text_file_read(int fd, const char *path, size_t max, char **text, size_t *len);

/*
 * Gives take() each line, a copy without its end that it may change, and "PATH:LINE" for error
 * messages; an empty text is one empty line. Ends with the first failure: take()'s, -EINVAL for a
 * NUL, which would hide what follows it, or -ENOMEM.
 */
int text_file_lines(const char *path, const char *text, size_t len,
		    int (*take)(void *arg, const char *where, char *line), void *arg);
