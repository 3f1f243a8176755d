/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dump.h -- a copy of what was inspected, to be inspected elsewhere.
 */
#ifndef DUMP_H
#define DUMP_H

#include <jansson.h>

#include "common/host/sysroot.h"

/* Begins to copy; the directory must be new or empty. */
int dump_begin(struct sysroot *root, const char *directory);
/* Ends the copy, and adds facts.json, made of the answers that this machine gave. */
int dump_end(struct sysroot *root, const char *directory, json_t *answers);

#endif /* DUMP_H */
