/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compact.h -- a result as the text of a file: small, and one line a point.
 */
#ifndef BENCH_RESULT_COMPACT_H
#define BENCH_RESULT_COMPACT_H

#include <jansson.h>
#include <stddef.h>

/*
 * The document without what a reader knows anyway: blanks, what is null in a
 * repeat or summary, and what a repeat only copies from its point. Ends with a
 * newline; to be freed. NULL: no memory.
 */
char *compact_text(const json_t *document, size_t *len);

#endif /* BENCH_RESULT_COMPACT_H */
