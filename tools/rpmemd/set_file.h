/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * set_file.h -- the file of a pool set, below the pool set directory.
 *
 * Its name comes from the client: it is a relative path, and no name reaches a
 * file elsewhere. Neither .. nor a symbolic link may be a part of it.
 */
#ifndef RPMEMD_SET_FILE_H
#define RPMEMD_SET_FILE_H

#include "pool_set.h"

/*
 * Reads and parses. -EINVAL: the name or the text is wrong; -ENOENT, -EACCES and others
 * as open(2); the error message is stored.
 */
int set_file_read(const char *directory, const char *name, struct pool_set *set);
int set_file_remove(const char *directory, const char *name);

#endif /* RPMEMD_SET_FILE_H */
