/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gzip.h -- a result whose file is named *.gz is compressed: RFC 1952, by zlib.
 */
#ifndef BENCH_RESULT_GZIP_H
#define BENCH_RESULT_GZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Does the name of a file ask for it? */
bool gzip_is_name(const char *path);

/* The text as the content of a .gz file, for free(); NULL: out of memory. */
char *gzip_text(const char *text, size_t len, size_t *packed_len);

#endif /* BENCH_RESULT_GZIP_H */
