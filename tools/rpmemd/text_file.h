/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text_file.h -- the whole of a small file: a pool set, a configuration.
 */
#ifndef RPMEMD_TEXT_FILE_H
#define RPMEMD_TEXT_FILE_H

#include <stddef.h>

/*
 * Reads all of the open file; the caller frees *text, which has no NUL at its end.
 * `path` is for the error message. -EINVAL: it is not a regular file, or is larger than max.
 */
int text_file_read(int fd, const char *path, size_t max, char **text, size_t *len);

#endif /* RPMEMD_TEXT_FILE_H */
